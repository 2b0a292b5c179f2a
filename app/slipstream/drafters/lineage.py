"""Which model a file belongs to, by what it and its surroundings call themselves.

Headers cannot tell a model from the next one of the same shape (Qwen3.6-27B and Qwen3.8-27B have
identical ones), nor a fine-tune from what it was made from, so names are the only evidence there
is. A name counts word by word: a word more is another model.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from slipstream.weights.header import Header
from slipstream.weights.names import model_stem, quantization

DRAFTER_FOLDERS = frozenset({"mtp", "dspark", "dflash"})

# Words that tell what a file is for, not which model it belongs to.
_ROLES = {"mtp", "dflash", "dflash2", "dspark", "eagle3", "eagle", "assistant"}
_ROLES |= {"draft", "drafter", "drafters", "nextn", "speculator", "speculators"}
# How it was stored or quantized, and what converters write when they do not know a name.
_STORED = {"gguf", "ggml", "kquant", "imatrix", "noimatrix", "i1", "udt", "fp8", "fp16", "mmproj"}
_STORED |= {"model", "models", "hf", "snapshot", "main", "workspace", "output", "collection"}
# Makers that uploaders put in front of a model's name (``google_gemma-4-31B-it``).
_MAKERS = {"ai", "bytedance", "google", "meta", "microsoft", "minimaxai", "mistralai"}
_MAKERS |= {"moonshotai", "nvidia", "openai", "org", "stepfun", "tencent", "zai"}
_SAYS_NOTHING = frozenset(_ROLES | _STORED | _MAKERS)
_LABEL_OF_ITS_OWN = re.compile(r"q\d+emb|\d+gb|(?:sha256)?[0-9a-f]{16,}")
_QAT = "qat"
_SEVERAL, _MOST_BASES = 2, 4

_BETWEEN_WORDS = re.compile(r"(?<!\d)\.|\.(?!\d)|[^\w.]+|_+")
_VERSION_AT_THE_END = re.compile(r"(?<=[^\W\d]{3})(?=\d)")
_WORD = re.compile(r"[^\W\d_]{2}")
_SIZE = re.compile(r"[ea]?\d+(?:\.\d+)?[bm]")
_CACHE_FOLDER = re.compile(r"models--(?P<owner>.+?)--(?P<name>.+)")


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
        words: what tells it from other models, in any order.
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
        match = _CACHE_FOLDER.fullmatch(folder.name)
        if match:
            return Place(repository=f"{match['owner']}/{match['name']}")
    home = path.parent
    if home.name.lower() in DRAFTER_FOLDERS or quantization(home.name) == home.name:
        home = home.parent
    return Place(folder=home.name)


def own_name(header: Header, place: Place | None = None) -> ModelName | None:
    """What a model is called; None if nothing names it.

    Args:
        header: of the model.
        place: where its file lies; None asks its path.
    """
    return _first(_evidence(header, place or place_of(header.path)))


def made_for(header: Header, place: Place | None = None, *, head: bool = False) -> ModelName | None:
    """Which model a drafter was made for; None if nothing says so.

    Args:
        header: of the drafter.
        place: where its file lies; None asks its path.
        head: it is a part of its model (MTP), and what that model was made from is another one.
    """
    place = place or place_of(header.path)
    evidence = list(_evidence(header, place))
    if not head:
        bases = (*_bases(header), *place.bases)
        evidence += _named(name for name in bases if name and not _drafts(name))
    return _first(evidence)


def also_made_for(header: Header, target: ModelName, size: str | None) -> bool:
    """Whether a drafter that names several models it was made for names this one.

    It must be named after one of them itself: a fine-tune of a drafter keeps the list.

    Args:
        header: of the drafter.
        target: the model's name.
        size: of the model as its header says it ("27B"), which such lists leave out.
    """
    mine = name_of(header.path.name)
    bases = list(_named(filter(None, _bases(header))))
    if mine is None or len(bases) < _SEVERAL or not any(one.words <= mine.words for one in bases):
        return False
    return any(target.words in (one.words, one.words | {(size or "").lower()}) for one in bases)


def listed_name(path: str, place: Place) -> ModelName | None:
    """Which model a file of a repository belongs to, as far as names tell before it is read."""
    return _first(_named((path, place.repository)))


def name_of(text: str) -> ModelName | None:
    """The model that a file, a folder or a repository is named after; None if after none."""
    stem = model_stem(text.replace("\\", "/").rpartition("/")[2])
    words = {
        part
        for word in _BETWEEN_WORDS.split(stem.lower())
        if word not in _SAYS_NOTHING and not _LABEL_OF_ITS_OWN.fullmatch(word)
        for part in _VERSION_AT_THE_END.split(word)
        if part
    }
    qat = _QAT in words
    words.discard(_QAT)
    if not any(map(_WORD.search, words)):
        return None
    return ModelName(frozenset(words), qat, text)


def _evidence(header: Header, place: Place) -> Iterator[ModelName]:
    """The names that count, the most reliable first: file names tell models apart better than
    ``general.name``, which a fine-tune often has from what it was made from."""
    texts = (header.path.name, header.text("general.name"), place.repository)
    yield from _named(filter(None, texts))
    folder = name_of(place.folder)
    if folder and ("gguf" in place.folder.lower() or any(map(_SIZE.fullmatch, folder.words))):
        yield folder


def _bases(header: Header) -> Iterator[str | None]:
    return (header.text(f"general.base_model.{number}.name") for number in range(_MOST_BASES))


def _named(texts: Iterable[str]) -> Iterator[ModelName]:
    yield from filter(None, map(name_of, texts))


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
    return not _ROLES.isdisjoint(_BETWEEN_WORDS.split(name.lower()))
