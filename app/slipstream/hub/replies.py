"""Answers of a server, read whole as far as they may be large."""

from contextlib import closing

import httpx2

from slipstream.cancel import CancelToken

LARGEST = 64 << 20
"""Bytes of an answer when it is unpacked; a page of a thousand files has some 300 kB."""
_REDIRECTS = 20
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class TooLarge(httpx2.RequestError):
    """An answer that does not end where answers do."""


def reply(client: httpx2.Client, request: httpx2.Request, stop: CancelToken) -> httpx2.Response:
    """Send a request, and follow where it is sent on to.

    Returns: the answer; of one that is no success only status and headers were read.
    Raises: Cancelled, httpx2.HTTPError.
    """
    for _ in range(_REDIRECTS):
        with closing(client.send(request, stream=True, follow_redirects=False)) as response:
            if response.is_success:
                return _whole(response, stop)
            if response.next_request is None:
                return response
            request = response.next_request
    raise httpx2.TooManyRedirects("sent on too often", request=request)


def _whole(response: httpx2.Response, stop: CancelToken) -> httpx2.Response:
    content = bytearray()
    for piece in response.iter_bytes():
        stop.raise_if_cancelled()
        content += piece
        if len(content) > LARGEST:
            raise TooLarge(f"larger than {LARGEST} bytes", request=response.request)
    # as httpx2 would give it, had it read the answer itself
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name.lower() not in _OF_THE_BODY
    ]
    return httpx2.Response(
        response.status_code, headers=headers, content=bytes(content), request=response.request
    )
