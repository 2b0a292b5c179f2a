"""The user's own token for the Hub: whose it is, and keeping it."""

import os
import re
from dataclasses import replace

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.calls import ask
from slipstream.hub.connection import Connection, connect, may_know, store_token

_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_TOKEN = re.compile(r"[!-~]{1,4096}")
"""Printable ASCII without spaces, as a header carries it, and as long as a file of it is read."""


def account_of(token: str, cancel: CancelToken) -> str:
    """The name of the account that a token belongs to; the Hub is asked once.

    Raises: Cancelled; SlipstreamError: ``token_not_sent``, ``bad_token``, what ``connect`` and
        ``ask`` raise.
    """
    if not _TOKEN.fullmatch(token):
        raise SlipstreamError(
            "bad_token",
            "This is not an access token: it has characters that no token has, or is too long.",
            action="Copy it again from the page of your tokens.",
        )
    with connect() as connection:
        if not may_know(connection.endpoint):
            raise SlipstreamError(
                "token_not_sent",
                f"Slipstream sends no token to {connection.host}: it is not Hugging Face itself.",
                facts={"host": connection.host},
                action="Unset HF_ENDPOINT to use Hugging Face.",
            )
        known = replace(connection, token=token)
        try:
            answer = ask("your account", lambda api: api.whoami(), known, cancel)
        except SlipstreamError as error:
            raise (_unknown(connection) if error.code == "bad_token" else error) from None
    return str(answer["name"])


def keep_token(token: str, cancel: CancelToken) -> str:
    """Find out whose token it is, then keep it in the system's keyring.

    Returns: the name of the account.

    Raises: Cancelled; SlipstreamError: what ``account_of`` and ``store_token`` raise,
        ``no_keyring`` where the keyring forgets it, ``other_token`` where another one comes first.
    """
    token = token.strip()
    account = account_of(token, cancel)
    cancel.raise_if_cancelled()
    store_token(token)
    with connect() as connection:
        used = connection.token
    if used == token:
        return account
    if not used:
        raise SlipstreamError(
            "no_keyring",
            f"The token belongs to {account}, but this system has no keyring that keeps it.",
            action="Set the token as HF_TOKEN instead.",
        )
    first = next((name for name in _VARIABLES if os.environ.get(name)), "that of 'hf auth login'")
    raise SlipstreamError(
        "other_token",
        f"The token of {account} is saved, but another one comes first: {first}.",
        action="Take that one away, or replace it with this one.",
    )


def _unknown(connection: Connection) -> SlipstreamError:
    return SlipstreamError(
        "bad_token",
        f"{connection.host} does not know this token.",
        facts={"host": connection.host},
        action="Copy it again from the page of your tokens, or make a new one there.",
    )
