from gguf import GGML_QUANT_SIZES

from slipstream.weights.tensor_types import TENSOR_TYPES


def test_sizes_are_those_of_the_gguf_library() -> None:
    ours = {number: (kind.name, kind.block, kind.bytes) for number, kind in TENSOR_TYPES.items()}
    theirs = {int(kind): (kind.name, *sizes) for kind, sizes in GGML_QUANT_SIZES.items()}
    assert ours == {**theirs, 42: ("Q2_0", 64, 18)}  # block_q2_0 of ggml-common.h
