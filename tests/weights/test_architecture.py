"""What each block of a model keeps of a token is what llama.cpp keeps."""

from collections import Counter

import pytest

from headers import header, known
from slipstream.errors import SlipstreamError
from slipstream.weights.architecture import architecture_of
from slipstream.weights.header import Header
from slipstream.weights.layers import MOST_BLOCKS, Layer
from slipstream.weights.parser import ArrayInfo, Value

NOTHING = Layer()
DIMENSIONS: dict[str, Value] = {
    "block_count": 8,
    "embedding_length": 512,
    "attention.head_count": 8,
    "attention.head_count_kv": 2,
}
ROW = 2 * 64
"""Values of a key, and of a value, with these dimensions."""


def layers_of(architecture: str, **more: Value) -> tuple[Layer, ...]:
    keys = {name.replace("__", "."): value for name, value in more.items()}
    return architecture_of(header(architecture, {**DIMENSIONS, **keys})).layers


def full_blocks(layers: tuple[Layer, ...]) -> list[int]:
    """The blocks that look back at everything."""
    return [number for number, layer in enumerate(layers) if layer.key and not layer.window]


# State sizes by llama.cpp's n_embd_r + n_embd_s, KV rows by n_embd_k_gqa and n_embd_v_gqa.
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("llama-3.1-8b", {Layer(1024, 1024): 32}),
        # Windows.
        ("gemma-3-27b", {Layer(2048, 2048, window=1024): 52, Layer(2048, 2048): 10}),
        ("gpt-oss-20b", {Layer(512, 512, window=128): 12, Layer(512, 512): 12}),
        ("command-a", {Layer(1024, 1024, window=4096): 48, Layer(1024, 1024): 16}),
        # Windows with other heads: 16 heads of 256 in a window, 4 of 512 without.
        ("gemma-4-31b", {Layer(4096, 4096, window=1024): 50, Layer(2048, 2048): 10}),
        ("mimo-v2-flash", {Layer(1536, 1024, window=128): 39, Layer(768, 512): 9}),
        # A window that has no effect.
        ("phi3-window", {Layer(1280, 1280): 40}),
        # The last blocks look into the caches of earlier ones.
        (
            "gemma-4-e4b",
            {Layer(512, 512, window=512): 20, Layer(1024, 1024): 4, NOTHING: 18},
        ),
        ("gemma3n", {Layer(512, 512, window=512): 16, Layer(512, 512): 4, NOTHING: 15}),
        # Compressed keys that serve as values, too.
        ("deepseek-v3", {Layer(576, 0): 61}),
        ("deepseek-v3.2", {Layer(576, 0, index=128): 61}),
        ("deepseek2-before-mla", {Layer(3072, 2048): 27}),
        ("minicpm3", {Layer(3840, 2560): 62}),
        # A recurrent state in place of a cache.
        ("codestral-mamba-7b", {Layer(state=1_079_296): 64}),
        ("rwkv7-2.9b", {Layer(state=168_960): 32}),
        ("qwen3.6-27b", {Layer(state=817_152): 48, Layer(1024, 1024): 16}),
        ("granite-4.0-h-small", {Layer(state=1_073_920): 36, Layer(1024, 1024): 4}),
        ("kimi-linear", {Layer(state=561_152): 21, Layer(576, 0): 6}),
        ("lfm2-1.2b", {Layer(state=4096): 10, Layer(512, 512): 6}),
        # One part in each block: a state, a cache, or a feed forward, which keeps nothing.
        ("nemotron-h-8b", {Layer(state=1_079_296): 24, Layer(1024, 1024): 4, NOTHING: 24}),
        # Both parts in each block.
        ("falcon-h1-7b", {Layer(256, 256, state=797_184): 44}),
    ],
)
def test_the_kinds_of_blocks(name: str, kinds: dict[Layer, int]) -> None:
    assert Counter(architecture_of(known(name)).layers) == kinds


def test_an_mtp_head_stands_beside_the_trunk() -> None:
    shape = architecture_of(known("qwen3.6-27b"))
    assert len(shape.layers) == 64
    assert shape.nextn == (Layer(1024, 1024),)
    assert architecture_of(known("llama-3.1-8b")).nextn == ()


def test_only_some_architectures_keep_a_state_per_draft_token() -> None:
    assert architecture_of(known("qwen3.6-27b")).rolls_back
    assert not architecture_of(known("codestral-mamba-7b")).rolls_back


def test_one_block_in_so_many_looks_back_at_everything() -> None:
    window = {"attention__sliding_window": 512}
    assert full_blocks(layers_of("gemma2", **window)) == [1, 3, 5, 7]
    assert full_blocks(layers_of("gemma3", **window)) == [5]
    assert full_blocks(layers_of("cohere2", **window)) == [3, 7]
    assert full_blocks(layers_of("smallthinker", **window)) == [0, 4]
    period = {**window, "attention__sliding_window_pattern": 2}
    assert full_blocks(layers_of("gemma3", **period)) == [1, 3, 5, 7]


def test_a_pattern_says_it_block_by_block() -> None:
    pattern = (True, False, True, True)  # what is missing has no window
    stated = layers_of(
        "gemma3", attention__sliding_window=512, attention__sliding_window_pattern=pattern
    )
    assert full_blocks(stated) == [1, 4, 5, 6, 7]


def test_windows_that_the_header_does_not_name() -> None:
    assert layers_of("gemma2")[0].window == 4096
    assert layers_of("llama4", attention__sliding_window=1)[0].window == 8192
    assert {layer.window for layer in layers_of("exaone4")} == {0}
    large = layers_of("exaone4", block_count=64)
    assert full_blocks(large) == list(range(3, 64, 4))


def test_the_header_can_say_which_blocks_are_recurrent() -> None:
    ssm: dict[str, Value] = {"ssm__conv_kernel": 4, "ssm__inner_size": 8, "ssm__state_size": 2}
    by_default = layers_of("qwen35", **ssm)
    assert [layer.state > 0 for layer in by_default] == [True, True, True, False] * 2
    every = layers_of("qwen35", full_attention_interval=2, **ssm)
    assert [layer.state > 0 for layer in every] == [True, False] * 4
    stated = layers_of("qwen35", attention__recurrent_layers=(False, True, False), **ssm)
    assert [layer.state > 0 for layer in stated] == [False, True] + [False] * 6
    by_heads = layers_of("jamba", attention__head_count_kv=(0, 2, 0, 2), **ssm)
    assert [layer.key for layer in by_heads] == [0, ROW, 0, ROW, *[ROW] * 4]
    assert [layer.state for layer in by_heads] == [3 * 8 + 16, 0, 3 * 8 + 16, 0, 0, 0, 0, 0]


def test_an_unknown_architecture_is_read_by_its_keys() -> None:
    assert layers_of("newest") == (Layer(ROW, ROW),) * 8
    sizes = layers_of("newest", attention__key_length=32, attention__value_length=16)
    assert sizes == (Layer(64, 32),) * 8


def test_keys_that_are_missing_count_nothing() -> None:
    shape = architecture_of(header("llama"))
    assert (shape.layers, shape.hidden, shape.heads, shape.trained_context) == ((), 0, 0, 0)
    assert architecture_of(header("")).layers == ()
    assert architecture_of(header("llama", {"block_count": 2})).layers == (NOTHING, NOTHING)
    # Without a number of KV heads there are as many as there are heads.
    keys: dict[str, Value] = {**DIMENSIONS, "attention.head_count_kv": 1.5}
    assert architecture_of(header("llama", keys)).layers == (Layer(512, 512),) * 8


@pytest.mark.parametrize(
    "strange",
    [
        {"attention.head_count": 0},
        {"attention.head_count": -8, "attention.key_length": -1},
        {"attention.head_count": ArrayInfo(4, 5000, 0, 20_000)},
        {"attention.head_count": ()},
        {"attention.head_count": (-8, 8), "attention.head_count_kv": (-2, 2, -1)},
        {"attention.head_count": "eight"},
        {"nextn_predict_layers": -1},
        {"nextn_predict_layers": 9},
        {"attention.shared_kv_layers": 99},
        {"attention.sliding_window_pattern": -3, "attention.sliding_window": 512},
        {"kda.head_dim": 128, "attention.head_count": ()},
    ],
)
@pytest.mark.parametrize("architecture", ["llama", "gemma3", "qwen35", "kimi-linear"])
def test_strange_numbers_make_no_layer_negative(
    architecture: str, strange: dict[str, Value]
) -> None:
    shape = architecture_of(header(architecture, {**DIMENSIONS, **strange}))
    assert len(shape.layers) + len(shape.nextn) == 8
    for layer in shape.layers:
        assert min(layer.key, layer.value, layer.index, layer.window, layer.state) >= 0


@pytest.mark.parametrize("blocks", [MOST_BLOCKS + 1, 2**64 - 1])
def test_more_layers_than_any_model_has_are_refused(blocks: int) -> None:
    with pytest.raises(SlipstreamError) as raised:
        architecture_of(header("llama", {"block_count": blocks}))
    assert raised.value.code == "impossible_shape"
    assert "model.gguf" in raised.value.message
    assert raised.value.facts["layers"] == blocks
    most: Header = header("llama", {"block_count": MOST_BLOCKS})
    assert len(architecture_of(most).layers) == MOST_BLOCKS


def test_an_unknown_architecture_without_keys_is_read_by_its_matrices() -> None:
    tensors = {"blk.0.attn_k.weight": (64, 16), "blk.0.attn_v.weight": (64, 8)}
    (layer,) = architecture_of(header("newest", {"block_count": 1}, tensors)).layers
    assert (layer.key, layer.value) == (16, 8)


@pytest.mark.parametrize("name", ["dream", "llada", "llada-moe", "rnd1", "bert"])
def test_models_that_write_all_at_once_keep_nothing(name: str) -> None:
    keys = {"block_count": 2, "embedding_length": 64, "attention.head_count": 4}
    assert architecture_of(header(name, keys)).layers == (Layer(), Layer())


def test_minimax_01_keeps_a_square_of_each_head() -> None:
    keys = {"block_count": 8, "embedding_length": 64, "attention.head_count": 4}
    first, *_, last = architecture_of(header("minimax-01", keys)).layers
    assert first == Layer(state=4 * 16 * 16)
    assert last == Layer(key=64, value=64)
