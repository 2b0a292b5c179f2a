from pathlib import Path

import pytest
import xllamacpp

from slipstream.drafters.choose import DRAFT_TOKENS
from slipstream.drafters.flags import spec_flags
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.embedded_flags import FLAGS, parse
from slipstream.engine.embedded_values import SPEC_TYPES
from slipstream.errors import SlipstreamError

OFFERED = frozenset(name for flag in FLAGS for name in flag.names)
TYPES = tuple(SPEC_TYPES)
FILE = Path("drafter.gguf")
MTP_FILE = SpecConfig(DrafterKind.MTP, FILE, draft_tokens=3, p_min=0.25)


def test_every_value_is_explicit() -> None:
    assert spec_flags(MTP_FILE, OFFERED, TYPES) == [
        *("--spec-type", "draft-mtp"),
        *("--spec-draft-model", "drafter.gguf"),
        *("--spec-draft-n-max", "3"),
        *("--spec-draft-p-min", "0.25"),
    ]


def test_plain_is_said_where_it_can_be_said() -> None:
    assert spec_flags(PLAIN, OFFERED, ("draft-mtp",)) == ["--spec-type", "none"]
    assert spec_flags(PLAIN, frozenset(), ()) == []


@pytest.mark.parametrize("kind", DrafterKind)
def test_the_embedded_engine_understands_every_kind(kind: DrafterKind) -> None:
    spec = SpecConfig(kind, FILE, DRAFT_TOKENS[kind], with_ngram=True)
    params = xllamacpp.CommonParams()
    parse(spec_flags(spec, OFFERED, TYPES), params)
    assert params.speculative.draft.n_max == DRAFT_TOKENS[kind]
    assert params.speculative.ngram_simple.size_m == DRAFT_TOKENS[kind]
    names = {type_.name for type_ in params.speculative.types}
    assert "COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE" in names


def test_ngrams_are_added_once() -> None:
    mixed = SpecConfig(DrafterKind.MTP, draft_tokens=3, with_ngram=True)
    assert "draft-mtp,ngram-simple" in spec_flags(mixed, OFFERED, TYPES)
    alone = SpecConfig(DrafterKind.NGRAM, draft_tokens=12, with_ngram=True)
    assert "ngram-simple" in spec_flags(alone, OFFERED, TYPES)


def test_older_spellings_are_used_where_only_they_are_offered() -> None:
    older = frozenset({"--spec-type", "-md", "--model-draft", "--draft-max", "--draft-p-min"})
    flags = spec_flags(MTP_FILE, older, TYPES)
    assert flags[2::2] == ["--model-draft", "--draft-max", "--draft-p-min"]


@pytest.mark.parametrize("missing", ["--spec-type", "--spec-draft-n-max"])
def test_a_flag_the_engine_lacks_is_an_error(missing: str) -> None:
    with pytest.raises(SlipstreamError) as caught:
        spec_flags(MTP_FILE, OFFERED - {missing}, TYPES)
    assert caught.value.code == "engine_cannot"
    assert caught.value.facts == {"option": missing}


def test_a_type_the_engine_lacks_is_an_error() -> None:
    with pytest.raises(SlipstreamError) as caught:
        spec_flags(MTP_FILE, OFFERED, ("none", "draft-simple"))
    assert caught.value.code == "engine_cannot"
    assert caught.value.facts == {"option": "draft-mtp"}
    assert "MTP" in caught.value.message
