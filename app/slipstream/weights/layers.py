"""What each block of a model keeps between two tokens.

Source: llama.cpp's loaders (``src/models/*.cpp``), ``src/llama-hparams.cpp``, and
``llama_model::create_memory``. The keys of the header decide; the tables hold what llama.cpp knows
by the name of an architecture alone. One that is in none of them is read by its keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from slipstream.errors import SlipstreamError
from slipstream.weights.header import Header


@dataclass(frozen=True)
class Layer:
    """What one block keeps between two tokens.

    Attributes:
        key, value: values per token in the KV cache; 0 for a block without attention.
        index: values per token in the cache that sparse attention searches.
        window: tokens that the block looks back at; 0 is all of them.
        state: values of its recurrent state, which does not grow with the context.
    """

    key: int = 0
    value: int = 0
    index: int = 0
    window: int = 0
    state: int = 0


# fmt: off
# One block in so many has full attention, the last of them; the others have a window.
PERIODS = {
    "afmoe": 4, "cohere2": 4, "cohere2moe": 4, "exaone-moe": 4, "exaone4": 4, "gemma-embedding": 6,
    "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "laguna": 4, "llama4": 4, "mellum": 4,
    "modern-bert": 3, "muse-glimmer": 4, "olmo2": 4, "plamo3": 8, "smallthinker": 4,
}
# Of these the first of them has full attention.
FULL_FIRST = frozenset({"cohere2moe", "laguna", "modern-bert", "smallthinker"})
# Windows in tokens where the header names none.
WINDOWS = {"exaone-moe": 128, "exaone4": 4096, "gemma2": 4096, "llama4": 8192, "smallthinker": 4096}
RECURRENT = frozenset({"arwkv7", "mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7"})
# A block without KV heads is recurrent.
BY_KV_HEADS = frozenset({
    "bailingmoe3", "glm5-next", "granitehybrid", "jamba", "kimi-k3", "kimi-linear", "lfm2",
    "lfm2moe", "plamo2",
})
# The same, but a block with a feed forward is nothing else.
ONE_PART_EACH = frozenset({"nemotron_h", "nemotron_h_moe"})
# One block in so many has attention, the last of them, where the header does not say.
INTERVALS = {"minimax-01": 8, "qwen35": 4, "qwen35moe": 4, "qwen3next": 4, "qwen4exp": 4}
# They read a text as a whole, or write it all at once.
NO_CACHE = frozenset({
    "bert", "dream", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3", "llada",
    "llada-moe", "modern-bert", "neo-bert", "nomic-bert", "nomic-bert-moe", "rnd1",
    "wavtokenizer-dec",
})
ROLLS_BACK = frozenset({
    "bailingmoe3", "deepseek4", "glm5-next", "kimi-k3", "lfm2", "lfm2moe", "nemotron_h",
    "nemotron_h_moe", "qwen35", "qwen35moe", "qwen4exp",
})
# fmt: on
GEMMA3N_CACHED = 20
"""Blocks of Gemma 3n that have a cache; the later ones share it."""
EXAONE4_WITH_WINDOW = 64
"""Only the EXAONE 4 of so many blocks has a window."""
MOST_BLOCKS = 512
"""Blocks that llama.cpp takes (``LLAMA_MAX_LAYERS``)."""


def number_of(header: Header, name: str) -> int | None:
    """A number of the architecture; one below zero says as little as a key that is missing."""
    number = header.number(name)
    return None if number is None or number < 0 else number


def blocks_of(header: Header) -> int:
    """Blocks of a model, those of an MTP head included.

    Raises: SlipstreamError ``impossible_shape``, if they are more than any engine takes.
    """
    blocks = number_of(header, "block_count") or 0
    if blocks > MOST_BLOCKS:
        raise SlipstreamError(
            "impossible_shape",
            f"{header.path.name} says that it has {blocks:,} layers, more than any model.",
            facts={"path": str(header.path), "layers": blocks, "most": MOST_BLOCKS},
            action="Download it again, or choose another file.",
        )
    return blocks


class Shape:
    """A header read block by block, those of an MTP head included.

    Attributes:
        trunk: number of blocks before the MTP head.
        heads, kv_heads: query heads and key/value heads of each block.
        feed_forward: width of each block's feed forward.
        key_length, value_length: values of one head.
    """

    def __init__(self, header: Header) -> None:
        self._header = header
        self._name = header.architecture
        self._blocks = blocks_of(header)
        self._hidden = self._number("embedding_length") or 0
        self.trunk = max(0, self._blocks - (self._number("nextn_predict_layers") or 0))
        self.heads = self.per_block("attention.head_count")
        self.kv_heads = self.per_block("attention.head_count_kv") or self.heads
        self.feed_forward = self.per_block("feed_forward_length")
        most = max(self.heads, default=0)
        default = self._hidden // most if most else 0
        self.key_length = self._number("attention.key_length") or default
        self.value_length = self._number("attention.value_length") or default

    def per_block(self, name: str) -> Sequence[int]:
        """A number that may differ from block to block; empty if the header has none."""
        stated = self._header.numbers(name)
        if stated:
            padded = [*stated, *[stated[-1]] * self._blocks][: self._blocks]
            return [max(0, number) for number in padded]
        number = self._number(name)
        return [] if number is None else [number] * self._blocks

    def layer(self, block: int) -> Layer:
        """What a block of the trunk keeps."""
        recurrent = self._recurrent[block]
        if self._name in ONE_PART_EACH and self.feed_forward and self.feed_forward[block]:
            return Layer()
        if recurrent and self._name != "falcon-h1":
            return Layer(state=self.state)
        if not self._has_own_cache(block):
            return Layer()
        return replace(self.attention(block), state=self.state if recurrent else 0)

    def attention(self, block: int) -> Layer:
        """What the attention of a block keeps."""
        if not self.kv_heads:
            return Layer(self._rows(block, "attn_k"), self._rows(block, "attn_v"))
        windowed = self._windowed[block]
        ending = "_swa" if windowed else ""
        number = self._number
        heads = self.kv_heads[block]
        key = number(f"attention.key_length{ending}") or self.key_length
        value = number(f"attention.value_length{ending}") or self.value_length
        if self.latent:
            value = 0  # one compressed row serves for both
        index = number("attention.indexer.key_length") or 0
        return Layer(heads * key, heads * value, index, self.window if windowed else 0)

    def _rows(self, block: int, name: str) -> int:
        """Values that a matrix makes of each token, where no key tells."""
        tensor = self._header.by_name.get(f"blk.{block}.{name}.weight")
        return tensor.shape[1] if tensor is not None and len(tensor.shape) > 1 else 0

    @property
    def latent(self) -> int:
        """Width of compressed keys and values; 0 for a file made before they were kept so."""
        number = self._number
        return (number("attention.kv_lora_rank") or 0) if number("attention.key_length_mla") else 0

    @property
    def window(self) -> int:
        """Tokens that blocks with a window look back at; 0 if there is none."""
        said = self._number("attention.sliding_window")
        if self._name == "phi3":  # its key has no effect
            return 0
        if self._name == "exaone4" and self.trunk != EXAONE4_WITH_WINDOW:
            return 0
        if self._name == "llama4" and said:  # its blocks look at chunks of one size
            return WINDOWS["llama4"]
        return WINDOWS.get(self._name, 0) if said is None else said

    @cached_property
    def state(self) -> int:
        """Values of one recurrent state (``llama_hparams::n_embd_r`` and ``n_embd_s``)."""
        number, hidden = self._number, self._hidden
        if head := number("wkv.head_size"):
            return hidden * ((number("token_shift_count") or 2) + head)
        if length := number("shortconv.l_cache"):
            return hidden * (length - 1)
        kernel = number("ssm.conv_kernel") or 0
        if head := number("kda.head_dim"):
            return max(self.heads, default=0) * head * (3 * (kernel - 1 if kernel else 3) + head)
        if self._name == "minimax-01":
            return max(self.heads, default=0) * self.key_length**2
        inner, state = number("ssm.inner_size") or 0, number("ssm.state_size") or 0
        groups = number("ssm.group_count") or 0
        return max(0, kernel - 1) * (inner + 2 * groups * state) + state * inner

    @cached_property
    def _windowed(self) -> Sequence[bool]:
        name, blocks = self._name, range(self._blocks)
        stated = self._flags("attention.sliding_window_pattern")
        period = self._number("attention.sliding_window_pattern") or PERIODS.get(name, 0)
        if not self.window:
            return [False] * self._blocks
        if stated:
            return stated
        if name in ("lfm2", "lfm2moe"):
            return [True] * self._blocks
        if name in FULL_FIRST:
            return [block % period != 0 for block in blocks]
        return [block % period < period - 1 if period else False for block in blocks]

    @cached_property
    def _recurrent(self) -> Sequence[bool]:
        name = self._name
        stated = self._flags("attention.recurrent_layers")
        if stated:
            return stated
        if name in BY_KV_HEADS | ONE_PART_EACH:
            return [heads == 0 for heads in self.kv_heads] or [False] * self._blocks
        if name in INTERVALS:
            every = self._number("full_attention_interval") or INTERVALS[name]
            return [
                block < self.trunk and (block + 1) % every != 0 for block in range(self._blocks)
            ]
        return [name in RECURRENT or name == "falcon-h1"] * self._blocks

    def _has_own_cache(self, block: int) -> bool:
        if self._name in NO_CACHE:
            return False
        if self._name == "gemma3n":
            return block < GEMMA3N_CACHED
        shared = self._number("attention.shared_kv_layers") or 0
        return block < self._blocks - shared

    def _number(self, name: str) -> int | None:
        return number_of(self._header, name)

    def _flags(self, name: str) -> Sequence[bool]:
        """An array of yes and no, one per block; empty if the header has none."""
        value = self._header.keys.get(f"{self._name}.{name}")
        if not isinstance(value, tuple):
            return []
        return [bool(item) for item in (*value, *[False] * self._blocks)][: self._blocks]
