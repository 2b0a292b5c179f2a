"""Drafters that are known to be made for a model, and where they are: ``known_drafters.json``.

The table says where to look; the headers decide, as everywhere.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slipstream.drafters.kinds import MADE_FOR_A_TARGET, DrafterKind
from slipstream.drafters.lineage import ModelName, name_of
from slipstream.paths import resources

_REPO = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)


@dataclass(frozen=True)
class KnownDrafter:
    """One line of the table.

    Attributes:
        model: what it drafts for, by its name without an owner.
        kind: how it drafts.
        repo: ``owner/name`` of its repository.
    """

    model: str
    kind: DrafterKind
    repo: str


def known_drafters(model: ModelName) -> tuple[KnownDrafter, ...]:
    """The drafters that are known for a model, in the order of the table."""
    return tuple(one for name, one in _table() if name.same_model(model))


@cache
def _table() -> tuple[tuple[ModelName, KnownDrafter], ...]:
    lines = read_table(resources() / "known_drafters.json")
    named = ((name_of(line.model), line) for line in lines)
    return tuple((name, line) for name, line in named if name)


def read_table(file: Path) -> tuple[KnownDrafter, ...]:
    """Read a table.

    Raises: OSError; ValueError: a line of it cannot be so.
    """
    lines = json.loads(file.read_text(encoding="utf-8"))["drafters"]
    return tuple(map(_checked, lines))


def _checked(line: Mapping[str, str]) -> KnownDrafter:
    """Raises: ValueError."""
    model, repo = line.get("model") or "", line.get("repo") or ""
    kind = DrafterKind(line.get("kind") or "")
    if not name_of(model) or kind not in MADE_FOR_A_TARGET:
        raise ValueError(f"no drafter of a model: {line}")
    if not _REPO.fullmatch(repo):
        raise ValueError(f"no repository: {line}")
    return KnownDrafter(model, kind, repo)
