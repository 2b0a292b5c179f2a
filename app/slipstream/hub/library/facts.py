"""What the list needs to know of a header, kept on disk so that the next start reads none.

``weights.cache`` keeps whole headers, some 60 kB each, and forgets local ones at the end.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipstream import __version__, paths
from slipstream.drafters.identify import FileRole, mtp_layers, role_by_name, role_of
from slipstream.drafters.lineage import made_for, own_name
from slipstream.drafters.pairing import prove
from slipstream.errors import SlipstreamError
from slipstream.hub.library.stored import LocalSet
from slipstream.small_files import read_json
from slipstream.weights.cache import SETTLED, cached_header
from slipstream.weights.header import Header
from slipstream.weights.names import display_name, model_stem, quantization_at, quantization_of
from slipstream.weights.shards import read_model
from slipstream.words import size

_UNSEEN = 5_000
"""Entries kept of files that were not met this time: a drive may come back."""
_LONGEST = 64 << 20
"""Bytes; the entry of one file has some 200."""
_HEADS = frozenset({FileRole.MTP, FileRole.GEMMA4_ASSISTANT})


@dataclass(frozen=True)
class Facts:
    """What a file says about itself.

    Attributes:
        role: what it is for; by its name where its header cannot be read.
        name: for people.
        quant: its quantization.
        words: of the name of the model that it is, or was made for; none if nothing names one.
        width: of a model's hidden state, or what a projector writes; None where it is not told.
        problem: one sentence, if it is damaged.
        has_head: an MTP head is inside a model.
    """

    role: FileRole
    name: str
    quant: str | None
    words: tuple[str, ...]
    width: int | None
    problem: str | None = None
    has_head: bool = False


class Notes:
    """Facts by the version of their files."""

    def __init__(self) -> None:
        self._known = _load()
        self._seen: dict[str, Any] = {}
        self._fresh = False

    def facts(self, files: LocalSet) -> Facts:
        """What a file says about itself; read only if it has changed."""
        key = _version(files)
        known = _decoded(self._known.get(key))
        if known:
            self._seen[key] = self._known[key]
            return known
        facts = _read(files)
        if _settled(files):
            self._note(key, list(dataclasses.astuple(facts)))
        return facts

    def fits(self, target: LocalSet, drafter: LocalSet) -> bool:
        """Whether nothing in two headers speaks against a drafter."""
        key = f"{_version(target)} {_version(drafter)}"
        known = self._known.get(key)
        if isinstance(known, bool):
            self._seen[key] = known
            return known
        fits = _prove(target, drafter)
        if _settled(target) and _settled(drafter):
            self._note(key, fits)
        return fits

    def save(self) -> None:
        """Keep what was learnt; a full disk does not matter."""
        if not self._fresh:
            return
        unseen = [each for each in self._known.items() if each[0] not in self._seen]
        content = {"version": __version__, "notes": dict(unseen[-_UNSEEN:]) | self._seen}
        with contextlib.suppress(OSError, SlipstreamError):
            file = _file()
            number, draft = tempfile.mkstemp(dir=file.parent)
            try:
                with os.fdopen(number, "w", encoding="ascii") as stream:
                    json.dump(content, stream)
                Path(draft).replace(file)
            finally:
                Path(draft).unlink(missing_ok=True)

    def _note(self, key: str, value: object) -> None:
        self._seen[key] = value
        self._fresh = True


def _read(files: LocalSet) -> Facts:
    path = files.first
    try:
        header = _header(files)
    except SlipstreamError as error:
        there = path.name not in files.missing
        return _by_name(path, error.message if there else None)
    role = role_of(header)
    model = own_name(header)
    width = header.hidden_size or None
    if role is not FileRole.TARGET:
        model = made_for(header, head=role in _HEADS)
    if role is FileRole.PROJECTOR:
        width = header.integer("clip.vision.projection_dim")
    cut = header.missing_bytes
    problem = f"It is incomplete: {size(cut)} are missing." if cut else None
    words = tuple(sorted(model.words if model else ()))
    has_head = role is FileRole.TARGET and mtp_layers(header) > 0
    name, quant = display_name(path, header), quantization_of(header)
    return Facts(role, name, quant, words, width, problem, has_head)


def _header(files: LocalSet) -> Header:
    """Of the whole set, or of its first file, if others are missing. Raises: SlipstreamError."""
    return cached_header(files.first) if files.missing else read_model(files.first)


def _by_name(path: Path, problem: str | None) -> Facts:
    quant = quantization_at(path)
    stem = model_stem(path.name).replace("-", " ").replace("_", " ").split()
    name = " ".join([*stem, *filter(None, [quant])]) or path.name
    return Facts(role_by_name(path), name, quant, (), None, problem)


def _prove(target: LocalSet, drafter: LocalSet) -> bool:
    try:
        return prove(_header(target), _header(drafter)).fits
    except SlipstreamError:
        return False


def _version(files: LocalSet) -> str:
    """Of a set's name and files: another one when any of them changes.

    The number of a file's disk is left out: another start may give it another one.
    """
    text = [str(files.first), *files.missing]
    text += [f"{file.bytes} {file.changed}" for file in files.files]
    content = "\0".join(text).encode(errors="surrogatepass")
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def _settled(files: LocalSet) -> bool:
    """Whether every further change will show in the times of the files."""
    newest = max((file.changed for file in files.files), default=0)
    return time.time() - newest / 1e9 > SETTLED


def _file() -> Path:
    return paths.cache_folder() / "library.json"


def _load() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, SlipstreamError):
        content = read_json(_file(), _LONGEST)
        # Another version of the app may judge in another way.
        if content["version"] == __version__:
            return dict(content["notes"])
    return {}


def _decoded(known: object) -> Facts | None:
    try:
        match known:
            case [
                str(role),
                str(name),
                str() | None as quant,
                list(words),
                int() | None as width,
                str() | None as problem,
                bool(has_head),
            ]:
                return Facts(FileRole(role), name, quant, tuple(words), width, problem, has_head)
    except ValueError:
        pass
    return None
