"""Why the Hub, or the way to it, fails: sentences for people."""

import email.utils
import math
import time
from collections.abc import Mapping

import httpx2

from slipstream.errors import Fact, SlipstreamError
from slipstream.hub.connection import Connection

SIGN_IN = "enter a token on the Models page, set HF_TOKEN or run 'hf auth login'"
_UNKNOWN_WAIT = 10.0
_NO_END = 1_000_000


def failure(error: Exception, what: str, connection: Connection) -> SlipstreamError:
    """The error for people when no answer came, or none that makes sense.

    Args:
        error: of httpx2's, or what went wrong with the answer.
        what: what was asked about.
        connection: the Hub.

    Returns: ``offline``, ``timed_out``, ``untrusted``, ``server_error``.
    """
    host = connection.host
    action = "Check the connection to the internet and try again."
    match error:
        case TimeoutError() | httpx2.TimeoutException():
            code, sentence = "timed_out", f"{host} takes too long to answer."
            action = "Try again later."
        case httpx2.ConnectError() if "CERTIFICATE_VERIFY_FAILED" in str(error):
            code, sentence = "untrusted", f"{host} cannot prove that it is {host}."
            action = "Check the date of this computer and the proxy."
        case httpx2.ProxyError():
            code, sentence = "offline", f"{host} cannot be reached through the proxy."
            action = "Check the proxy settings and try again."
        case httpx2.NetworkError() | httpx2.RemoteProtocolError():
            code, sentence = "offline", f"{host} cannot be reached."
        case _:
            code, sentence = "server_error", f"The answer of {host} cannot be understood."
            action = "Try again later."
    reason = str(error) or type(error).__name__
    return SlipstreamError(
        code, sentence, facts={"what": what, "host": host, "reason": reason[:500]}, action=action
    )


def refusal(response: httpx2.Response, what: str, connection: Connection) -> SlipstreamError:
    """The error for people when the Hub says no. Only the status and the headers are looked at.

    Args:
        response: of the API or of ``resolve``.
        what: the repository, ``owner/name``.
        connection: the Hub.

    Returns: ``gated``, ``repo_not_found``, ``revision_not_found``, ``file_not_found``,
        ``repo_disabled``, ``bad_token``, ``forbidden``, ``rate_limited``, ``server_error``.
        Codes and headers: huggingface_hub's ``hf_raise_for_status``.
    """
    reason = response.headers.get("X-Error-Message", "")[:500]
    facts: dict[str, Fact] = {"what": what, "http_status": response.status_code}
    code = _code(response, reason, has_token=connection.token is not None)
    if reason and code != "repo_not_found":  # anonymous, it speaks of a wrong password
        facts["reason"] = reason
    if code == "gated":
        return _gated(what, connection, facts)
    if code == "rate_limited":
        facts["seconds"] = round(wait_of(response.headers))
    host = connection.host
    sentence, action = {
        "repo_not_found": (
            f"{host} shows no {what}: it does not exist, or it is private.",
            f"Check the name; if it is private, {SIGN_IN}.",
        ),
        "revision_not_found": (f"{what} has no such version.", "Check the branch or the commit."),
        "file_not_found": (f"{what} has no such file.", "Look at its list of files again."),
        "repo_disabled": (f"{host} has taken {what} down.", "Choose another model."),
        "bad_token": (
            f"{host} does not accept your access token.",
            f"Get a new one and {SIGN_IN}, or remove the old one.",
        ),
        "forbidden": (f"{host} does not let you use {what}.", "Use a token that may read it."),
        "rate_limited": (
            f"{host} has been asked too often.",
            "Wait a few minutes and try again; signing in raises the limit.",
        ),
        "server_error": (f"{host} cannot answer now.", "Try again later."),
    }[code]
    return SlipstreamError(code, sentence, facts=facts, action=action)


def _code(response: httpx2.Response, reason: str, *, has_token: bool) -> str:
    """What kind of no it is."""
    known = {
        "GatedRepo": "gated",
        "RepoNotFound": "repo_not_found",
        "RevisionNotFound": "revision_not_found",
        "EntryNotFound": "file_not_found",
    }.get(response.headers.get("X-Error-Code", ""))
    if known:
        return known
    match response.status_code:
        case 403 if reason == "Access to this resource is disabled.":
            return "repo_disabled"
        case 401:
            # anonymous: the Hub does not tell what is missing from what is private
            return "bad_token" if has_token else "repo_not_found"
        case 404 | 410:
            return "repo_not_found"
        case 403 | 451:
            return "forbidden"
        case 429:
            return "rate_limited"
    return "server_error"


def _gated(what: str, connection: Connection, facts: dict[str, Fact]) -> SlipstreamError:
    page = connection.page_url(what)
    if connection.token:
        sentence = f"{what} is only for people who accepted its conditions; you have no access yet."
        action = f"Accept the conditions at {page}, or wait until its owners let you in."
    else:
        sentence = f"{what} is only for signed-in people who accepted its conditions."
        action = f"Accept the conditions at {page}, then {SIGN_IN}."
    return SlipstreamError("gated", sentence, facts={**facts, "page": page}, action=action)


def wait_of(headers: Mapping[str, str]) -> float:
    """Seconds to wait until the rate limit ends, by the headers of an answer."""
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    after = headers.get("Retry-After", "")
    try:
        limit = parse_ratelimit_headers(headers)
        if limit and not limit.remaining:
            seconds = limit.reset_in_seconds + 1  # it is rounded down
        elif after.strip().isdecimal():
            seconds = int(after)
        else:
            until = email.utils.parsedate_to_datetime(after)
            seconds = math.ceil(until.timestamp() - time.time())
    except (ValueError, OverflowError):
        return _UNKNOWN_WAIT
    return float(min(max(seconds, 0), _NO_END))
