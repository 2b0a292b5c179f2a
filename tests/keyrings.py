"""Keyrings for tests: in memory, or with a trouble."""

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
import keyring.backend
import keyring.errors

from slipstream.hub import connection


class Memory(keyring.backend.KeyringBackend):
    """A keyring that holds what it is given; or raises, if it has a trouble."""

    priority = 1

    def __init__(self, trouble: Exception | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}
        self.trouble = trouble

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.trouble:
            raise self.trouble
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.held:
            raise keyring.errors.PasswordDeleteError
        del self.held[service, username]


@contextmanager
def using(backend: keyring.backend.KeyringBackend) -> Iterator[None]:
    """Let the system have this keyring."""
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    connection._from_keyring.cache_clear()
    yield
    keyring.set_keyring(before)
    connection._from_keyring.cache_clear()
