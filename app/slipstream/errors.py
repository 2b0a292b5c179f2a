"""The one kind of error people see: a code, a sentence, the facts, and the one action that helps.

Anything else that is raised is a bug of ours and is shown as one.
"""

from collections.abc import Mapping

Fact = str | int | float | bool | None


class SlipstreamError(Exception):
    """Something in the world went wrong, told so that a person can act on it.

    Attributes:
        code: stable name of the kind of failure, for programs (``not_enough_memory``).
        message: one sentence for a person.
        facts: what is known (needed and free bytes, paths, held by whom); sizes in bytes.
        action: the one thing to do about it, as an imperative sentence.
    """

    def __init__(
        self, code: str, message: str, *, facts: Mapping[str, Fact] | None = None, action: str
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.facts: dict[str, Fact] = dict(facts or {})
        self.action = action

    def to_json(self) -> dict[str, object]:
        """The error object that the command line and the local API return."""
        return {
            "code": self.code,
            "message": self.message,
            "facts": self.facts,
            "action": self.action,
        }
