from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from slipstream.drafters import choose as choosing
from slipstream.drafters import verdicts
from slipstream.drafters.choose import DRAFT_TOKENS
from slipstream.drafters.discovery import NGRAM
from slipstream.drafters.kinds import (
    PLAIN,
    Drafter,
    DrafterKind,
    Found,
    SpecChoice,
    SpecConfig,
    Unfit,
)
from slipstream.drafters.verdicts import Verdict
from slipstream.errors import SlipstreamError

FILE = Path("drafter.gguf")
HEAD = Drafter(DrafterKind.MTP, None, proven=True, reason="")
UNPROVEN = Drafter(DrafterKind.DSPARK, FILE, proven=False, reason="")
DFLASH = Drafter(DrafterKind.DFLASH, FILE, proven=True, reason="", longest_draft=7)
ALL = ("draft-simple", "draft-mtp", "draft-dflash", "draft-dspark", "draft-eagle3", "ngram-simple")
SMALL_MODEL = Drafter(DrafterKind.DRAFT, FILE, proven=True, reason="")


def choose(
    drafters: Sequence[Drafter],
    choice: SpecChoice,
    offered_types: Collection[str],
    draft_tokens: int | None = None,
) -> SpecConfig:
    return choosing.choose(Found(tuple(drafters)), choice, offered_types, draft_tokens)


def test_off_is_plain() -> None:
    assert choose([HEAD, NGRAM], "off", ALL) == PLAIN


def test_auto_takes_the_first_proven_drafter() -> None:
    expected = SpecConfig(DrafterKind.DFLASH, FILE, draft_tokens=5)
    assert choose([UNPROVEN, DFLASH, HEAD, NGRAM], "auto", ALL) == expected


def test_auto_takes_nothing_that_was_not_made_for_the_model() -> None:
    assert choose([UNPROVEN, SMALL_MODEL, NGRAM], "auto", ALL) == PLAIN
    assert choose([], "auto", ALL) == PLAIN


def test_auto_skips_what_the_engine_cannot_run() -> None:
    old_engine = ("draft-simple", "draft-mtp")
    assert choose([DFLASH, HEAD, NGRAM], "auto", old_engine).kind is DrafterKind.MTP
    assert choose([DFLASH, NGRAM], "auto", old_engine) == PLAIN
    assert choose([HEAD], "auto", ()) == PLAIN


def test_a_kind_that_was_asked_for_is_tried_whatever_the_engine_offers() -> None:
    """Starting it then tells why not, and goes on without it."""
    assert choose([DFLASH], DrafterKind.DFLASH, ()).kind is DrafterKind.DFLASH


def test_a_kind_that_was_asked_for_need_not_be_proven() -> None:
    assert choose([HEAD, UNPROVEN, NGRAM], DrafterKind.DSPARK, ALL).kind is DrafterKind.DSPARK


@pytest.mark.parametrize("kind", DrafterKind)
def test_every_kind_has_its_own_draft_tokens(kind: DrafterKind) -> None:
    drafter = Drafter(kind, FILE, proven=True, reason="")
    assert choose([drafter], kind, ALL).draft_tokens == DRAFT_TOKENS[kind]
    assert choose([drafter], kind, ALL, 2).draft_tokens == 2


def test_whole_models_stop_when_they_are_unsure() -> None:
    assert choose([SMALL_MODEL], DrafterKind.DRAFT, ALL).p_min == 0.5
    assert choose([HEAD], DrafterKind.MTP, ALL).p_min == 0


def test_draft_tokens_stay_within_what_the_drafter_can_do() -> None:
    assert choose([DFLASH], DrafterKind.DFLASH, ALL, 20).draft_tokens == 7
    assert choose([DFLASH], DrafterKind.DFLASH, ALL, 0).draft_tokens == 1
    short = Drafter(DrafterKind.DFLASH, FILE, proven=True, reason="", longest_draft=3)
    assert choose([short], "auto", ALL).draft_tokens == 3


def test_a_kind_that_is_not_there_is_an_error_with_a_way_out() -> None:
    with pytest.raises(SlipstreamError) as caught:
        choose([HEAD, NGRAM], DrafterKind.EAGLE3, ALL)
    error = caught.value
    assert error.code == "no_drafter"
    assert "EAGLE-3" in error.message
    assert error.facts == {"kind": "eagle3", "available": "MTP, N-gram"}
    assert error.message == "No drafter of this kind was found for this model: EAGLE-3."
    assert error.action == "Choose MTP, or add a drafter of this kind."


def test_where_nothing_was_made_for_the_model_no_other_kind_is_recommended() -> None:
    with pytest.raises(SlipstreamError) as caught:
        choose([NGRAM], DrafterKind.DFLASH, ALL)
    told = f"{caught.value.message} {caught.value.action}"
    assert "computer" not in told
    assert "beside" not in told
    assert caught.value.action == (
        "Run it without a drafter, or add one that was made for this model."
    )


def test_a_file_that_looks_like_the_drafter_is_named_with_what_is_wrong() -> None:
    foreign = Unfit(DrafterKind.DFLASH, Path("a/dflash-B.gguf"), "Its hidden size is 8.", False)
    damaged = Unfit(DrafterKind.DFLASH, Path("a/dflash-A.gguf"), "It is incomplete.", True)
    other = Unfit(DrafterKind.MTP, Path("a/mtp-A.gguf"), "It is incomplete.", True)
    with pytest.raises(SlipstreamError) as caught:
        choosing.choose(Found((NGRAM,), (other, foreign, damaged)), DrafterKind.DFLASH, ALL)
    assert caught.value.code == "no_drafter"
    assert caught.value.message == "dflash-A.gguf cannot draft for this model. It is incomplete."
    assert caught.value.facts["path"] == "a/dflash-A.gguf"


def test_auto_takes_what_the_user_chose_though_it_is_only_plausible() -> None:
    wanted = Drafter(DrafterKind.DSPARK, FILE, proven=False, reason="", chosen=True)
    assert choose([wanted, HEAD], "auto", ALL).kind is DrafterKind.DSPARK
    whole = Drafter(DrafterKind.DRAFT, FILE, proven=True, reason="", chosen=True)
    assert choose([whole, HEAD], "auto", ALL).kind is DrafterKind.DRAFT
    assert choose([wanted, HEAD], "auto", ("draft-mtp",)).kind is DrafterKind.MTP


def test_auto_is_plain_where_the_user_wants_no_drafter() -> None:
    plain = Found((HEAD, NGRAM), plain=True)
    assert choosing.choose(plain, "auto", ALL) == PLAIN
    assert choosing.choose(plain, DrafterKind.MTP, ALL).kind is DrafterKind.MTP


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    file = tmp_path / "target.gguf"
    file.write_bytes(b"target")
    return file


def test_auto_does_not_take_what_failed_on_this_engine(target: Path) -> None:
    drafter = target.with_name("dflash.gguf")
    drafter.write_bytes(b"drafter")
    file = Drafter(DrafterKind.DFLASH, drafter, proven=True, reason="")
    found = Found((file, HEAD, NGRAM), target=target)
    bad = Verdict(False, "It drafted 64 tokens and none was right.", 64, 0, "b1", 1.0)
    verdicts.record(target, drafter, DrafterKind.DFLASH, bad)

    assert choosing.choose(found, "auto", ALL, engine="b1").kind is DrafterKind.MTP
    assert choosing.choose(found, "auto", ALL, engine="b2").kind is DrafterKind.DFLASH
    assert choosing.choose(found, "auto", ALL).kind is DrafterKind.DFLASH
    assert choosing.choose(found, DrafterKind.DFLASH, ALL, engine="b1").drafter == drafter
    (told,) = choosing.passed_over(found, "b1")
    assert (told.kind, told.path, told.reason) == (DrafterKind.DFLASH, drafter, bad.reason)
    assert told.missed
    assert choosing.passed_over(found, "b2") == ()


def test_a_head_that_failed_is_told_by_the_model_s_own_file(target: Path) -> None:
    found = Found((HEAD, NGRAM), target=target)
    crash = Verdict(False, "The engine crashed.", 0, 0, "b1", 1.0)
    verdicts.record(target, None, DrafterKind.MTP, crash)
    assert choosing.choose(found, "auto", ALL, engine="b1") == PLAIN
    assert [one.path for one in choosing.passed_over(found, "b1")] == [target]


def test_what_nobody_would_take_by_itself_is_not_told(target: Path) -> None:
    small = Drafter(DrafterKind.DRAFT, target, proven=True, reason="")
    bad = Verdict(False, "It drafted nothing.", 0, 0, "b1", 1.0)
    verdicts.record(target, target, DrafterKind.DRAFT, bad)
    assert choosing.passed_over(Found((small,), target=target), "b1") == ()


def test_a_good_verdict_changes_nothing(target: Path) -> None:
    good = Verdict(True, "It drafts.", 64, 40, "b1", 1.0)
    verdicts.record(target, None, DrafterKind.MTP, good)
    found = Found((HEAD,), target=target)
    assert choosing.choose(found, "auto", ALL, engine="b1").kind is DrafterKind.MTP
    assert choosing.passed_over(found, "b1") == ()
