"""Which part of a file a call wants."""

import re

from hub_server.answers import Answer, Call, Part
from hub_server.contents import Content, size_of
from hub_server.faults import Sending

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def answer_part(
    call: Call, content: Content, etag: str, sending: tuple[Sending, ...], headers: dict[str, str]
) -> Answer:
    """The file, or the part of it that ``Range`` and ``If-Range`` name: 200, 206 or 416."""
    size = size_of(content)
    ranges = all(one.ranges for one in sending)
    found = {**headers, "ETag": f'"{etag}"'}
    if ranges:
        found["Accept-Ranges"] = "bytes"
    wanted = _RANGE.fullmatch(call.headers.get("range", ""))
    same = call.headers.get("if-range", f'"{etag}"') == f'"{etag}"'
    if not wanted or not any(wanted.groups()) or not same or not ranges:
        return Answer(200, found, Part(content, 0, size, sending))
    first, end = _bounds(wanted[1], wanted[2], size)
    if first >= end:
        return Answer(416, {**found, "Content-Range": f"bytes */{size}"})
    found["Content-Range"] = f"bytes {first}-{end - 1}/{size}"
    return Answer(206, found, Part(content, first, end, sending))


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(int(last) + 1, size) if last else size
