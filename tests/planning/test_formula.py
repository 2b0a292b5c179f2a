"""What a launch takes by formula: where weights, context and computing lie."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headers import header, known
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.planning.formula import predict
from slipstream.planning.model import Model, model_of
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup, Share

MIB = 1 << 20
MTP = SpecConfig(DrafterKind.MTP, None, 3)
SETUP = Setup(16_384)
LLAMA, QWEN, MIXTURE = (
    model_of(known(name)) for name in ("llama-3.1-8b", "qwen3.6-27b", "qwen3-30b-a3b")
)


def weights(breakdown: Breakdown) -> int:
    shares = (*breakdown.target.values(), *breakdown.drafter.values())
    return sum(share.weights for share in shares)


def test_in_main_memory_weights_are_the_tensors() -> None:
    assert predict(LLAMA, SETUP).target.keys() == {HOST}
    assert weights(predict(LLAMA, SETUP)) == LLAMA.sizes.total


def test_on_a_device_the_token_embeddings_stay_in_main_memory() -> None:
    target = predict(LLAMA, SETUP, offload=Offload({"CUDA0": LLAMA.layers})).target
    assert target[HOST].weights == LLAMA.sizes.looked_up
    assert target["CUDA0"].weights == LLAMA.sizes.total - LLAMA.sizes.looked_up
    assert target[HOST].context == 0
    assert target["CUDA0"].context == 2048 * MIB
    assert 0 < target[HOST].compute < target["CUDA0"].compute


def test_embeddings_that_serve_as_the_output_lie_on_the_device_once_more() -> None:
    gemma = model_of(known("gemma-3-4b"))
    assert gemma.sizes.tied
    assert weights(predict(gemma, SETUP)) == gemma.sizes.total
    on_device = predict(gemma, SETUP, offload=Offload({"CUDA0": gemma.layers}))
    assert weights(on_device) == gemma.sizes.total + gemma.sizes.embedding


@pytest.mark.parametrize("name", ["gemma-4-e4b", "gemma3n"])
def test_some_have_their_embeddings_twice_even_in_main_memory(name: str) -> None:
    gemma = model_of(known(name))
    assert weights(predict(gemma, SETUP)) == gemma.sizes.total + gemma.sizes.embedding


def test_the_last_layers_go_to_the_device() -> None:
    half = predict(LLAMA, SETUP, offload=Offload({"CUDA0": 17})).target
    blocks = LLAMA.sizes.blocks
    assert half["CUDA0"].weights == sum(blocks[-16:]) + LLAMA.sizes.output
    assert half[HOST].weights == LLAMA.sizes.looked_up + sum(blocks[:16])
    assert half[HOST].context == half["CUDA0"].context == 1024 * MIB
    only_output = predict(LLAMA, SETUP, offload=Offload({"CUDA0": 1})).target
    assert only_output["CUDA0"].weights == LLAMA.sizes.output
    assert only_output["CUDA0"].context == 0


def test_several_devices_share_the_layers_in_their_order() -> None:
    split = predict(LLAMA, SETUP, offload=Offload({"CUDA0": 24, "CUDA1": 9})).target
    assert split["CUDA0"].context == 3 * split["CUDA1"].context == 1536 * MIB
    assert split["CUDA1"].weights == sum(LLAMA.sizes.blocks[-8:]) + LLAMA.sizes.output
    alone = predict(LLAMA, SETUP, offload=Offload({"CUDA0": 33})).target
    # Inputs are kept several times where devices work at once.
    assert split["CUDA0"].compute > alone["CUDA0"].compute
    assert split[HOST].compute > alone[HOST].compute


def test_experts_can_stay_in_main_memory() -> None:
    offload = Offload({"CUDA0": MIXTURE.layers}, host_experts=10)
    target = predict(MIXTURE, SETUP, offload=offload).target
    kept = sum(MIXTURE.sizes.experts[:10])
    assert target[HOST].weights == MIXTURE.sizes.looked_up + kept
    assert target["CUDA0"].weights == MIXTURE.sizes.total - MIXTURE.sizes.looked_up - kept
    assert target["CUDA0"].context == 1536 * MIB


def test_an_mtp_head_counts_only_where_it_drafts() -> None:
    head = QWEN.sizes.blocks[-1]
    plain, drafting = predict(QWEN, SETUP), predict(QWEN, Setup(16_384, MTP))
    assert weights(plain) == QWEN.sizes.total - head
    assert plain.drafter == {}
    # 431 MiB of weights in Q8_0, and one layer's context in F16.
    assert drafting.drafter[HOST].weights == head
    assert head / MIB == pytest.approx(431, abs=1)
    assert drafting.drafter[HOST].context == 64 * MIB
    assert predict(QWEN, Setup(16_384, MTP, kv_type="q8_0")).drafter == drafting.drafter


def test_a_drafter_s_own_file_lies_on_the_first_device_that_has_layers() -> None:
    drafter = model_of(known("qwen3-0.6b"))
    setup = Setup(16_384, SpecConfig(DrafterKind.DRAFT, None, 8))
    on_host = predict(LLAMA, setup, drafter=drafter).drafter
    assert on_host[HOST].weights == drafter.sizes.total
    assert on_host[HOST].context == 28 * 2 * 1024 * 2 * 16_384
    offload = Offload({"CUDA0": 0, "CUDA1": LLAMA.layers})
    on_device = predict(LLAMA, setup, drafter=drafter, offload=offload).drafter
    assert on_device[HOST].weights == drafter.sizes.looked_up
    assert on_device["CUDA1"].context == on_host[HOST].context
    assert "CUDA0" not in on_device


def test_an_assistant_looks_into_its_target_s_context() -> None:
    keys = {"block_count": 2, "nextn_predict_layers": 2, "embedding_length": 32}
    assistant = model_of(header("gemma4-assistant", {**keys, "attention.head_count": 2}))
    setup = Setup(16_384, SpecConfig(DrafterKind.MTP, None, 3))
    drafter = predict(model_of(known("gemma-4-31b")), setup, drafter=assistant).drafter
    assert drafter[HOST].context == 0


def test_a_model_without_layers_is_its_embeddings() -> None:
    nothing = model_of(header("llama", {}, {"token_embd.weight": (8, 10)}))
    assert nothing.layers == 1
    for offload in (None, Offload({"CUDA0": 1}), Offload({"CUDA0": 5})):
        breakdown = predict(nothing, SETUP, offload=offload)
        assert breakdown.target[HOST].weights == 160
        assert sum(share.context for share in breakdown.target.values()) == 0


offloads = st.builds(
    lambda first, second, experts: Offload({"CUDA0": first, "CUDA1": second}, experts),
    *(st.integers(0, 70), st.integers(0, 70), st.integers(0, 40)),
)


@settings(max_examples=50)
@given(st.sampled_from([LLAMA, QWEN, MIXTURE]), offloads, st.sampled_from([PLAIN, MTP]))
def test_wherever_layers_lie_weights_and_context_are_the_same(
    model: Model, offload: Offload, spec: SpecConfig
) -> None:
    setup = Setup(4096, spec)
    here, there = predict(model, setup), predict(model, setup, offload=offload)

    def total(breakdown: Breakdown) -> Share:
        shares = (*breakdown.target.values(), *breakdown.drafter.values())
        return sum(shares, Share())

    assert total(there).weights == total(here).weights
    assert total(there).context == total(here).context
    assert total(there).compute >= total(here).compute


@settings(max_examples=50)
@given(
    st.sampled_from([LLAMA, QWEN, MIXTURE]),
    offloads,
    st.sampled_from([PLAIN, MTP]),
    st.tuples(st.integers(256, 1 << 20), st.integers(256, 1 << 20)),
)
def test_more_context_never_takes_less_of_any_device(
    model: Model, offload: Offload, spec: SpecConfig, contexts: tuple[int, int]
) -> None:
    small, large = (
        predict(model, Setup(context, spec), offload=offload) for context in sorted(contexts)
    )
    for less, more in ((small.target, large.target), (small.drafter, large.drafter)):
        assert less.keys() == more.keys()
        assert all(less[place].total <= more[place].total for place in less)


@pytest.mark.parametrize("kind", [DrafterKind.DRAFT, DrafterKind.SELF])
def test_a_whole_model_that_drafts_takes_what_it_takes_alone(kind: DrafterKind) -> None:
    setup = Setup(16_384, SpecConfig(kind, None, 4), kv_type="q8_0")
    small = model_of(known("smollm3-3b"))
    drafting = predict(LLAMA, setup, drafter=small)
    assert drafting.drafter == predict(small, SETUP).target  # its KV cache is F16
    on_device = predict(LLAMA, setup, drafter=small, offload=Offload({"CUDA0": LLAMA.layers}))
    assert small.sizes.tied
    assert on_device.drafter["CUDA0"].weights == small.sizes.total
    head_and_all = predict(LLAMA, setup, drafter=QWEN).drafter[HOST]
    assert head_and_all.context == predict(QWEN, SETUP).target[HOST].context


def test_a_card_multiplies_with_what_lies_in_main_memory_and_needs_room_for_its_copy() -> None:
    layers = Offload({"CUDA0": 17})
    on_card = predict(LLAMA, SETUP, offload=layers).target["CUDA0"].compute
    elsewhere = predict(LLAMA, SETUP, offload=Offload({"RPC0": 17})).target["RPC0"].compute
    assert on_card - elsewhere == LLAMA.sizes.largest[0]
    everything = Offload({"CUDA0": MIXTURE.layers}, host_experts=3)
    with_experts = predict(MIXTURE, SETUP, offload=everything).target["CUDA0"].compute
    without = predict(MIXTURE, SETUP, offload=Offload({"CUDA0": MIXTURE.layers})).target["CUDA0"]
    assert with_experts - without.compute == MIXTURE.sizes.largest_experts[0] > 200 * MIB
