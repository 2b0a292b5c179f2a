"""The process that asks one driver: ``python -m slipstream.machine.probe NAME [ROOT]``.

A driver's library may hang or crash; here it takes nothing with it. The answer is one JSON
document on the standard output.
"""

import faulthandler
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from slipstream.machine import apple, nvidia, sysfs
from slipstream.machine.devices import Device, Found, Holder
from slipstream.machine.files import ROOT

PROBES: Mapping[str, Callable[[Path], Found]] = {
    "nvidia": nvidia.read,
    "sysfs": sysfs.read,
    "apple": apple.read,
}
_Made = TypeVar("_Made", Device, Holder)
_LONGEST_LIFE_S = 30
"""The app ends a probe long before; this is for a probe that outlives the app."""


def main(arguments: Sequence[str]) -> None:
    """Ask the driver that ``arguments`` name, and print what it knows."""
    faulthandler.dump_traceback_later(_LONGEST_LIFE_S, exit=True)
    name, root = [*arguments, str(ROOT)][:2]
    sys.stdout.write(encode(PROBES[name](Path(root))))


def encode(found: Found) -> str:
    """What a driver knows, as JSON."""
    return json.dumps(asdict(found))


def decode(text: str) -> Found:
    """What a driver knows, from JSON.

    Raises: ValueError, if it is anything else.
    """
    try:
        answer = json.loads(text)
        devices = tuple(map(_device, answer["devices"]))
        problems = tuple(map(str, answer["problems"]))
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError("not the answer of a probe") from error
    return Found(devices, problems)


def _device(row: Mapping[str, Any]) -> Device:
    holders = tuple(_checked(Holder(**holder)) for holder in row["holders"])
    return _checked(Device(**{**row, "holders": holders}))


def _checked(made: _Made) -> _Made:
    for name, kind in get_type_hints(type(made)).items():
        if kind in (str, int, bool) and type(getattr(made, name)) is not kind:
            raise TypeError(name)
    return made


if __name__ == "__main__":
    main(sys.argv[1:])
