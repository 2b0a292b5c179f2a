"""Whether two files say that they belong to the same model, by what they call themselves.

Headers cannot tell a model from the next one of the same shape (Qwen3.6-27B and Qwen3.8-27B have
identical ones), so names are the only evidence there is.
"""

import re

from slipstream.weights.header import Header
from slipstream.weights.names import model_stem

# Words that tell what a file is for, not which model it belongs to.
_ROLE_WORDS = {"mtp", "dflash", "dflash2", "dspark", "eagle3", "eagle", "assistant", "speculator"}
_ROLE_WORDS |= {"draft", "drafter", "gguf", "nextn", "kquant"}
# What converters write when they do not know a name.
_NO_NAMES = {"", "model", "hf", "models", "snapshot", "main", "workspace", "output"}


def own_names(header: Header) -> frozenset[str]:
    """What a file calls its model: its name and the stem of its file's name, made comparable."""
    return _plain(header.text("general.name"), model_stem(header.path.name))


def made_for(header: Header) -> frozenset[str]:
    """The names of the models that a drafter may have been made for."""
    bases = (header.text(f"general.base_model.{number}.name") for number in range(4))
    return own_names(header) | _plain(*bases)


def _plain(*names: str | None) -> frozenset[str]:
    return frozenset(map(_comparable, filter(None, names))) - _NO_NAMES


def _comparable(name: str) -> str:
    words = re.split(r"[-_\s]+", model_stem(name.rpartition("/")[2]).lower())
    return "".join(word for word in words if word not in _ROLE_WORDS)
