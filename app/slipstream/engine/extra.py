"""Extra arguments of an engine's command line, as experts type them, and what is not let through.

The options are llama-server's (``common/arg.cpp``). It takes the last of two that say the same, so
what the app sets itself, and what protects the user, cannot be said again.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.paths import printable

_VALUE = re.compile(r"(?!-)|-\.?\d|-$")
"""How a word begins that is a value: no option begins with a digit after its dash."""


@dataclass(frozen=True)
class _Refusal:
    """Options that are not let through.

    Attributes:
        options: their spellings, as a pattern for the whole of one.
        reason: ends a sentence that begins with the option.
        action: what to do instead.
    """

    options: re.Pattern[str]
    reason: str
    action: str


_LEAVE_OUT = "Leave it out."


def _instead(setting: str, options: str) -> _Refusal:
    reason, action = "is set by the app", f"Use “{setting}” instead."
    return _Refusal(re.compile(options), reason, action)


def _never(reason: str, options: str) -> _Refusal:
    return _Refusal(re.compile(options), reason, _LEAVE_OUT)


_REFUSALS = (
    _instead("Context", r"-c|--ctx-size"),
    _instead("Type of the context's memory", r"-ct[kv]|--cache-type-[kv]"),
    _instead("Layers on the GPU", r"-ngl|--gpu-layers|--n-gpu-layers"),
    _instead("Processor threads", r"-t|--threads"),
    _instead("Batch", r"-b|--batch-size"),
    _instead("Micro-batch", r"-ub|--ubatch-size"),
    _instead("Flash attention", r"-fa|--flash-attn"),
    _instead("Thinking", r"-rea|--reasoning"),
    _instead("Images", r"-mm|--mmproj|--mmproj-auto|--no-mmproj|--no-mmproj-auto"),
    _instead("Chat template", r"--chat-template|--chat-template-file"),
    _instead(
        "Draft tokens",
        r"--draft|--draft-n|--draft-max|--spec-draft-n-max|--spec-ngram-simple-size-[nm]",
    ),
    _instead(
        "Speculation",
        r"--spec-type|-md|--model-draft|--spec-draft-model|--draft-p-min|--spec-draft-p-min"
        r"|-ctkd|-ctvd|--cache-type-[kv]-draft|--spec-draft-type-[kv]",
    ),
    _never(
        "would load a model from somewhere else",
        r"-m|-mu|-mud|-mmu|-dr|-mv|-hf\w*|--model|--model-url\S*|--docker-repo\S*|--mmproj-url"
        r"|--model-vocoder|--hf-\S+|--spec-draft-(hf|url)\S*|--(no-)?models-\S+"
        r"|--\S+-default|--lora-url",
    ),
    _never(
        "would open the engine to other programs or computers",
        r"--host|--port|--reuse-port|--api-\S+|--ssl-\S+|--path|--(no-)?cors-\S+|--props|--rpc\S*"
        r"|--(no-)?(web)?ui(-\S+)?|--tools\S*|--mcp-\S+|-ag|-no-ag|--(no-)?agent|--media-path"
        r"|--public\S*",
    ),
    _never(
        "would write files",
        r"-o|-lcd|--lookup-cache-dynamic|--log-file|--slot-save-path|--logits-output-dir"
        r"|--save-all-logits|--out\S*|--prompt-cache\S*|--log-prompts-dir|--export\S*",
    ),
    _never(
        "is needed by the app as it is",
        r"-np|--parallel|--metrics|--slots|--no-slots|--offline|--sse-ping-interval|-fitt"
        r"|--fit-target|-cram|--cache-ram|-v|-lv|--verbose|--verbosity|--(no-)?log-\S+",
    ),
    _never(
        "would make the engine do something else than answer",
        r"-h|--help|--usage|--version|--license|--list-devices|--dry-run|-cl|--cache-list"
        r"|--completion-bash|--embeddings?|--rerank|--reranking",
    ),
    _never("would only pretend that drafts are accepted", r"--spec-synth-\S+"),
    _never("would unload the model unasked", r"--sleep-\S+"),
)


def check_extra(text: str, engine: EngineSpec) -> tuple[str, ...]:
    """The arguments in a text, each option spelled as the engine has it.

    Args:
        text: as a shell would read it; several lines are one.
        engine: what is to be given them.

    Raises: SlipstreamError ``extra_refused``, if they cannot be read, or if one of them is not
        known to this engine or not let through.
    """
    words = _words(text)
    if words and _VALUE.match(words[0]):
        raise _refused(
            words[0], "is not an option", "Begin with an option, such as --threads-batch 4."
        )
    return tuple(_checked(word, engine) for word in words)


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if sys.platform == "win32":
        lexer.escape = ""  # paths have backslashes there
    try:
        words = list(lexer)
        text.encode()
    except ValueError as error:  # a quotation without its end, a half character
        raise _unreadable() from error
    if "\0" in text:
        raise _unreadable()
    return words


def _checked(word: str, engine: EngineSpec) -> str:
    if _VALUE.match(word):
        return word
    option, equals, _ = word.partition("=")
    # llama-server takes an underscore for a dash.
    name = option.replace("_", "-") if option.startswith("--") else option
    refusal = next(_refusals_of(name), None)
    if refusal is not None:
        raise _refused(name, refusal.reason, refusal.action)
    if name not in engine.flags:
        raise _refused(name, "is not known to this engine", "Check its spelling, or leave it out.")
    if equals:
        raise _refused(word, "has its value after “=”", "Put a space in place of the first “=”.")
    return name


def _refusals_of(name: str) -> Iterator[_Refusal]:
    return (each for each in _REFUSALS if each.options.fullmatch(name))


def _refused(word: str, reason: str, action: str) -> SlipstreamError:
    shown = printable(word[:80])
    return SlipstreamError(
        "extra_refused",
        f"The extra argument {shown} {reason}.",
        facts={"option": shown},
        action=action,
    )


def _unreadable() -> SlipstreamError:
    return SlipstreamError(
        "extra_refused",
        "The extra arguments cannot be read.",
        action="Close every quotation mark that is opened.",
    )
