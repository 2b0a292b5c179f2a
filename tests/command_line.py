"""The installed command, and how a run of it ended."""

import json
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = str(Path(sysconfig.get_path("scripts")) / "slipstream")


@dataclass(frozen=True)
class Ended:
    """How a run ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return self.document["error"]
