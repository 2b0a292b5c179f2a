from collections.abc import Callable
from pathlib import Path

import pytest

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    TOKENS,
    write_dflash,
    write_dflash_of_another_target,
    write_dspark,
    write_eagle3,
    write_gemma4_assistant,
    write_mtp,
    write_projector,
    write_target,
)
from slipstream.drafters.lineage import Place
from slipstream.drafters.pairing import Proof, prove, prove_embedded
from slipstream.weights.header import Header, read_header

OTHER_TOKENS = tuple(f"[{number}]" for number in range(len(TOKENS)))
Write = Callable[..., Path]
WRITERS: dict[str, tuple[str, Write]] = {
    "mtp": ("qwen35", write_mtp),
    "gemma4_assistant": ("gemma4", write_gemma4_assistant),
    "dflash": ("qwen3", write_dflash),
    "dspark": ("qwen3", write_dspark),
    "eagle3": ("qwen3", write_eagle3),
}


class Pair:
    """Writes a target and a drafter into one folder and compares their headers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.target = write_target(folder / "Test-Model-Q8_0.gguf", "qwen3")

    def against(self, target: str, **options: object) -> "Pair":
        self.target = write_target(self.target, target, **options)  # type: ignore[arg-type]
        return self

    def proof(self, write: Write, **options: object) -> Proof:
        drafter = write(self.folder / "drafter.gguf", **options)
        return prove(read_header(self.target), read_header(drafter))


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def refusal(proof: Proof) -> str:
    assert not proof.fits
    assert not proof.proven
    return proof.reason


def doubt(proof: Proof) -> str:
    assert proof.fits
    assert not proof.proven
    return proof.reason


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_is_proven_for_its_own_target(pair: Pair, kind: str) -> None:
    architecture, write = WRITERS[kind]
    assert pair.against(architecture).proof(write).proven


@pytest.mark.parametrize("kind", WRITERS)
def test_no_kind_fits_a_wider_target(pair: Pair, kind: str) -> None:
    architecture, write = WRITERS[kind]
    proof = pair.against(architecture, width=96).proof(write)
    assert refusal(proof) == "Its hidden size is 64, this model's is 96."


@pytest.mark.parametrize("kind", WRITERS)
def test_no_kind_fits_another_vocabulary(pair: Pair, kind: str) -> None:
    architecture, write = WRITERS[kind]
    pair.against(architecture, tokens=TOKENS[:200])
    assert refusal(pair.proof(write)) == "Its vocabulary has 300 tokens, this model's has 200."
    pair.against(architecture, tokens=OTHER_TOKENS)
    assert "but other ones" in refusal(pair.proof(write))
    pair.against(architecture, keys={"tokenizer.ggml.pre": "llama3"})
    assert "splits text" in refusal(pair.proof(write))


@pytest.mark.parametrize("kind", WRITERS)
def test_a_drafter_named_after_another_model_is_only_plausible(pair: Pair, kind: str) -> None:
    architecture, write = WRITERS[kind]
    pair.against(architecture)
    assert "its name is of another model (Qwen3.6" in doubt(pair.proof(write, name="Qwen3.6 27B"))


def test_a_few_renamed_tokens_are_a_doubt(pair: Pair) -> None:
    tokens = (*TOKENS[:-2], "<tool>", "</tool>")
    assert doubt(pair.proof(write_dflash, tokens=tokens)).startswith("2 of its tokens")


def test_a_drafter_without_vocabulary_is_only_plausible(pair: Pair) -> None:
    assert "no vocabulary" in doubt(pair.proof(write_dflash, tokens=()))


def test_the_model_it_was_made_for_may_be_named_as_its_base(pair: Pair) -> None:
    keys = {"general.base_model.0.name": "Test Model"}
    assert pair.proof(write_dflash, name="Speculator v2", keys=keys).proven


def test_a_base_model_s_drafter_is_only_plausible_for_a_fine_tune(pair: Pair) -> None:
    pair.target = write_target(
        pair.folder / "Poet-27B-Q8_0.gguf",
        name="Poet 27B",
        keys={"general.base_model.0.name": "Test Model"},
    )
    assert doubt(pair.proof(write_dflash))


def test_an_unknown_architecture_is_a_doubt_not_a_refusal(pair: Pair) -> None:
    assert "brandnew" in doubt(pair.against("brandnew").proof(write_dflash))
    embedded = write_target(pair.folder / "embedded.gguf", "brandnew", mtp=1)
    assert "brandnew" in doubt(prove_embedded(read_header(embedded)))


def test_an_mtp_head_belongs_to_one_architecture_and_depth(pair: Pair) -> None:
    assert "made for qwen35" in refusal(pair.against("qwen3next").proof(write_mtp))
    proof = pair.against("qwen35", layers=6).proof(write_mtp)
    assert refusal(proof) == "Its number of layers is 4, this model's is 6."


def test_an_mtp_head_alone_also_fits_a_target_with_its_own_head(pair: Pair) -> None:
    assert pair.against("qwen35", mtp=1).proof(write_mtp).proven


def test_a_gemma4_assistant_needs_gemma4_and_its_heads(pair: Pair) -> None:
    assert "Gemma 4" in refusal(pair.against("qwen3").proof(write_gemma4_assistant))
    pair.against("gemma4")
    assert "head size" in refusal(pair.proof(write_gemma4_assistant, head=32))


def test_the_layers_a_drafter_reads_must_exist(pair: Pair) -> None:
    proof = pair.proof(write_dflash, target_layers=(1, 9))
    assert refusal(proof) == "It reads layer 9 of its target, this model has 4."
    assert "layer 30" in refusal(pair.proof(write_eagle3, target_layers=(1, 2, 30)))
    assert "needs 3" in refusal(pair.proof(write_eagle3, target_layers=(1, 2)))
    assert "does not say which layers" in refusal(pair.proof(write_dflash, target_layers=()))


def test_a_dflash_drafter_must_be_whole(pair: Pair) -> None:
    narrow = {"fc.weight": (64, 64)}
    assert "instead of 128" in refusal(pair.proof(write_dflash, tensors=narrow))
    mask = {"tokenizer.ggml.mask_token_id": 300}
    assert "mask token" in refusal(pair.proof(write_dflash, keys=mask))
    assert "how many" in refusal(pair.proof(write_dspark, keys={"dflash.block_size": 0}))


def test_a_plain_model_needs_the_same_tokens_from_the_sixth_on(pair: Pair) -> None:
    assert pair.proof(write_target).proven
    assert pair.proof(write_target, tokens=("<other>", *TOKENS[1:])).proven
    assert pair.proof(write_target, tokens=(*TOKENS, "<more>")).proven
    changed = (*TOKENS[:100], "<other>", *TOKENS[101:])
    assert "not those of this model" in refusal(pair.proof(write_target, tokens=changed))
    assert "300 tokens" in refusal(pair.against("qwen3", tokens=TOKENS * 2).proof(write_target))


def test_a_plain_model_needs_the_same_begin_and_end(pair: Pair) -> None:
    pair.against("qwen3", keys={"tokenizer.ggml.eos_token_id": 2})
    same, other = {"tokenizer.ggml.eos_token_id": 2}, {"tokenizer.ggml.eos_token_id": 7}
    assert pair.proof(write_target, keys=same).proven
    assert "starts, ends" in refusal(pair.proof(write_target, keys=other))


def test_what_is_no_drafter_says_what_it_is(pair: Pair) -> None:
    assert "a projector for images" in refusal(pair.proof(write_projector))


def test_the_demo_drafters(tmp_path: Path) -> None:
    small, deep = read_header(DEMO_SMALL), read_header(DEMO)
    assert prove_embedded(deep).proven
    assert prove(small, read_header(DEMO_MTP)).proven
    assert prove(small, read_header(DEMO_DFLASH)).proven
    assert prove(deep, read_header(DEMO_DFLASH)).proven
    assert not prove(deep, read_header(DEMO_MTP)).fits
    wide = read_header(write_dflash_of_another_target(tmp_path / "wide.gguf"))
    assert refusal(prove(small, wide)) == "Its hidden size is 512, this model's is 256."


def test_a_drafter_that_vanished_before_its_tokens_were_compared_does_not_fit(
    tmp_path: Path,
) -> None:
    target = read_header(write_target(tmp_path / "target.gguf", tokens=TOKENS[::-1]))
    path = write_dflash(tmp_path / "drafter.gguf")
    drafter = read_header(path)
    path.unlink()
    assert "no longer" in refusal(prove(target, drafter))


def test_tokens_come_from_where_the_caller_has_them(tmp_path: Path) -> None:
    """A file on a server has no path here."""
    target = read_header(write_target(tmp_path / "Test-Model.gguf"))
    path = write_dflash(tmp_path / "drafter.gguf", tokens=(*TOKENS[:-1], "<tool>"))
    drafter = read_header(path)
    path.unlink()
    texts = {target.path: TOKENS, drafter.path: (*TOKENS[:-1], "<tool>")}
    asked: list[Path] = []

    def tokens(header: Header) -> tuple[str, ...]:
        asked.append(header.path)
        return texts[header.path]

    proof = prove(target, drafter, tokens=tokens)
    assert doubt(proof) == "1 of its tokens are not those of this model."
    assert asked
    asked.clear()
    same = read_header(write_dflash(tmp_path / "drafter.gguf"))
    assert prove(target, same, tokens=tokens).proven
    assert asked == []


def test_names_of_repositories_are_evidence(pair: Pair) -> None:
    target = read_header(pair.target)
    drafter = read_header(write_dflash(pair.folder / "dflash.gguf", name="model"))
    ours, others = Place("org/Test-Model-GGUF"), Place("org/Best-Model-GGUF")
    assert prove(target, drafter, drafter_place=ours).proven
    assert "another model (org/Best-Model" in doubt(prove(target, drafter, drafter_place=others))
    tuned = Place("org/Test-Model-antislop-GGUF")
    assert not prove(target, drafter, target_place=tuned, drafter_place=ours).proven
    nameless = read_header(write_target(pair.folder / "model.gguf", name="model"))
    assert "which model this is" in doubt(prove(nameless, drafter, drafter_place=ours))


def test_a_drafter_for_the_version_trained_for_low_precision_is_proven_and_told(
    pair: Pair,
) -> None:
    proof = pair.proof(write_dflash, name="Test Model qat DFlash")
    assert proof.proven
    assert "(QAT)" in proof.reason
    assert "(QAT)" not in pair.proof(write_dflash).reason


def test_a_fine_tune_s_file_with_the_name_of_its_base_is_only_plausible(pair: Pair) -> None:
    target = read_header(pair.target)
    drafter = read_header(write_dflash(pair.folder / "dflash-Test-Model.gguf"))

    def proof(target_repo: str, drafter_repo: str) -> Proof:
        return prove(
            target, drafter, target_place=Place(target_repo), drafter_place=Place(drafter_repo)
        )

    assert proof("org/Test-Model-GGUF", "z/Test-Model-DFlash-GGUF").proven
    assert "Fine/MyTune-GGUF" in doubt(proof("Fine/MyTune-GGUF", "z/Test-Model-DFlash-GGUF"))
    assert proof("Fine/MyTune-GGUF", "Fine/MyTune-GGUF").proven
