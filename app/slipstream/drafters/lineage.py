"""Which model a file belongs to, by what it and its surroundings call themselves.

Headers cannot tell a model from the next one of the same shape (Qwen3.6-27B and Qwen3.8-27B have
identical ones), nor a fine-tune from what it was made from, so names are the only evidence there
is. A name counts word by word: a word more is another model.
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from slipstream.weights.header import Header
from slipstream.weights.names import model_stem, quantization

DRAFTER_FOLDERS = frozenset({"mtp", "dspark", "dflash"})

# Words that tell how a file drafts, or what its repository holds beside the model.
_METHODS = {"mtp", "nextn", "dflash", "dflash2", "dspark", "eagle3"}
# Words that tell so only in the name of a drafter; in that of a model they are a part of it.
_DRAFTERS = {"draft", "drafter", "drafters", "speculator", "speculators", "eagle"}
_ASSISTANT_OF, _ASSISTANT = "gemma", "assistant"
"""Only Gemma's drafters are called so; of others it is a fine-tune."""
# How it was stored or quantized, and what converters write when they do not know a name.
_STORED = {"gguf", "ggml", "kquant", "imatrix", "noimatrix", "i1", "udt", "fp8", "fp16", "mmproj"}
_STORED |= {"mm", "proj", "projector"}
_STORED |= {"model", "models", "hf", "snapshot", "main", "workspace", "output", "collection"}
# Makers that uploaders put in front of a model's name (``google_gemma-4-31B-it``).
_MAKERS = {"ai", "bytedance", "google", "meta", "microsoft", "minimaxai", "mistralai"}
_MAKERS |= {"moonshotai", "nvidia", "openai", "org", "stepfun", "tencent", "zai"}
_SAYS_NOTHING = frozenset(_METHODS | _STORED)
_LABEL_OF_ITS_OWN = re.compile(r"q\d+emb|\d+gb|(?:sha256)?[0-9a-f]{16,}")
_QAT = "qat"
_SEVERAL, _MOST_BASES = 2, 4

_BETWEEN_WORDS = re.compile(r"(?<!\d)\.|\.(?!\d)|[^\w.]+|_+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_VERSION_AT_THE_END = re.compile(r"(?<=[^\W\d]{3})(?=\d)")
_WORD = re.compile(r"[^\W\d_]{2}")
_SIZE = re.compile(r"[ea]?\d+(?:\.\d+)?[bm]")
CACHE_FOLDERS = "models--"
"""What the folders of repositories in a Hugging Face cache begin with."""


@dataclass(frozen=True)
class Place:
    """What is known of a file from where it lies.

    Attributes:
        repository: name of its repository, with or without its owner.
        folder: the folder it lies in on this computer, where that is not known.
        bases: the models that its repository says it was made from.
    """

    repository: str = ""
    folder: str = ""
    bases: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelName:
    """A model's name, made comparable.

    Attributes:
        words: what tells it from other models, in any order; numbers that follow one another
            (``GLM-4-5``) are also one word together.
        qat: it was trained for low precision, which changes its weights a little.
        text: as it was written.
    """

    words: frozenset[str]
    qat: bool
    text: str

    def same_model(self, other: "ModelName") -> bool:
        """Whether both name one model, trained for low precision or not."""
        return self.words == other.words


def place_of(path: Path) -> Place:
    """Where a file on this computer lies: a repository in a Hugging Face cache, or a folder."""
    for folder in path.parents:
        if folder.name.startswith(CACHE_FOLDERS):
            return Place(repository=cached_repository(folder.name))
    home = path.parent
    if home.name.lower() in DRAFTER_FOLDERS or quantization(home.name) == home.name:
        home = home.parent
    return Place(folder=home.name)


def cached_repository(folder: str) -> str:
    """The repository, ``owner/name``, that a Hugging Face cache calls ``models--owner--name``."""
    return folder.removeprefix(CACHE_FOLDERS).replace("--", "/", 1)


def own_name(header: Header, place: Place | None = None) -> ModelName | None:
    """What a model is called; None if nothing names it.

    Args:
        header: of the model.
        place: where its file lies; None asks its path.
    """
    return _first(_named(_evidence(header, place or place_of(header.path))))


def other_name(header: Header, place: Place | None = None) -> ModelName | None:
    """What the repository of a model is called, if that is another model than its file names.

    A fine-tune's file may have kept the name of what it was made from.

    Args:
        header, place: as for ``own_name``.
    """
    place = place or place_of(header.path)
    around, own = name_of(place.repository), own_name(header, place)
    return around if around and own and not around.words <= own.words else None


def made_for(header: Header, place: Place | None = None, *, head: bool = False) -> ModelName | None:
    """Which model a drafter was made for; None if nothing says so, or only that it is one of
    several.

    Args:
        header: of the drafter.
        place: where its file lies; None asks its path.
        head: it is a part of its model (MTP), and what that model was made from is another one.
    """
    place = place or place_of(header.path)
    texts = list(_evidence(header, place))
    evidence = list(_named(texts, _of_drafters((header.architecture, *texts))))
    if not head:
        told = (name for name in (*_bases(header), *place.bases) if name and not _drafts(name))
        bases = {name.words: name for name in _named(told)}
        evidence += bases.values() if len(bases) == 1 else ()
    return _first(evidence)


def also_made_for(header: Header, target: ModelName, size: str | None) -> bool:
    """Whether a drafter that names several models it was made for names this one.

    It must be named after one of them itself: a fine-tune of a drafter keeps the list.

    Args:
        header: of the drafter.
        target: the model's name.
        size: of the model as its header says it ("27B"), which such lists leave out.
    """
    file = header.path.name
    mine = _name(file, _of_drafters((header.architecture, file)))
    bases = list(_named(filter(None, _bases(header))))
    if mine is None or len(bases) < _SEVERAL or not any(one.words <= mine.words for one in bases):
        return False
    return any(target.words in (one.words, one.words | {(size or "").lower()}) for one in bases)


def listed_name(path: str, place: Place) -> ModelName | None:
    """Which model a drafter of a repository was made for, as far as names tell before it is
    read."""
    texts = (path, place.repository)
    return _first(_named(texts, _of_drafters(texts)))


def name_of(text: str) -> ModelName | None:
    """The model that a file, a folder or a repository is named after; None if after none."""
    return _name(text)


def _name(text: str, idle: Set[str] = frozenset()) -> ModelName | None:
    """The same, where further words tell nothing: those that drafters have beside the name of the
    model that they were made for."""
    stem = model_stem(text.replace("\\", "/").rpartition("/")[2]).lower().replace("+", "-plus-")
    said = _BETWEEN_WORDS.split(stem)
    silent = _SAYS_NOTHING | idle
    words = [word for word in said if word not in silent and not _LABEL_OF_ITS_OWN.fullmatch(word)]
    first = next((n for n, word in enumerate(words) if word not in _MAKERS), len(words))
    parts = [part for word in words[first:] for part in _VERSION_AT_THE_END.split(word) if part]
    found = frozenset((*parts, *_runs(parts))) - {_QAT}
    if not any(map(_WORD.search, found)):
        return None
    return ModelName(found, _QAT in parts, text)


def _runs(words: Iterable[str]) -> Iterator[str]:
    """Numbers that follow one another, which are another version in another order."""
    for number, run in groupby(words, lambda word: _NUMBER.fullmatch(word) is not None):
        together = tuple(run)
        if number and len(together) > 1:
            yield "-".join(together)


def _evidence(header: Header, place: Place) -> Iterator[str]:
    """The names that count, the most reliable first: file names tell models apart better than
    ``general.name``, which a fine-tune often has from what it was made from."""
    yield from filter(None, (header.path.name, header.text("general.name"), place.repository))
    folder = name_of(place.folder)
    if folder and ("gguf" in place.folder.lower() or any(map(_SIZE.fullmatch, folder.words))):
        yield place.folder


def _bases(header: Header) -> Iterator[str | None]:
    return (header.text(f"general.base_model.{number}.name") for number in range(_MOST_BASES))


def _named(texts: Iterable[str], idle: Set[str] = frozenset()) -> Iterator[ModelName]:
    yield from filter(None, (_name(text, idle) for text in texts))


def _of_drafters(texts: Iterable[str]) -> Set[str]:
    """Words that tell what a drafter is for, by what is known of it."""
    of_gemma = any(_ASSISTANT_OF in text.lower() for text in texts)
    return _DRAFTERS | {_ASSISTANT} if of_gemma else _DRAFTERS


def _first(evidence: Iterable[ModelName]) -> ModelName | None:
    """The first name, or what says more than it: a fine-tune's file may be called like its base."""
    names = list(evidence)
    if not names:
        return None
    best = names[0]
    for name in names[1:]:
        if name.words > best.words:
            best = name
    qat = any(name.qat for name in names if name.words <= best.words)
    return ModelName(best.words, qat, best.text)


def _drafts(name: str) -> bool:
    roles = _METHODS | _DRAFTERS | {_ASSISTANT}
    return not roles.isdisjoint(_BETWEEN_WORDS.split(name.lower()))
