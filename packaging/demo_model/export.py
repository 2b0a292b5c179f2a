"""Write the demo target, its MTP-only sidecar and its DFlash drafter as F16 GGUFs.

Usage: export.py OUT_DIR; reads tokenizer.json, target.pt and drafter.pt. ``sd`` is a state dict.
"""

import json
import pathlib
import sys

import gguf
import numpy as np
import torch
from gguf import GGUFWriter
from torch import Tensor

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
V, D, L, H, KV, HD, FF, CTX, EPS, THETA = 2048, 256, 3, 4, 2, 64, 512, 4096, 1e-6, 10000.0
BLOCK, DL, TAPS, S = 8, 2, [2, 3], 64  # TAPS count block 0
tokj = json.loads(pathlib.Path("tokenizer.json").read_text())
vocab = sorted(tokj["model"]["vocab"].items(), key=lambda kv: kv[1])
merges = [m if isinstance(m, str) else " ".join(m) for m in tokj["model"]["merges"]]
SPECIAL = {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|mask|>"}
# It learnt only questions that begin with a capital letter.
TEMPLATE = (
    "{% for m in messages %}"
    "{% set text = m['content'][:1]|upper + m['content'][1:] if m['role'] == 'user'"
    " else m['content'] %}"
    "{{ '<|im_start|>' + m['role'] + '\n' + text + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def common(w: GGUFWriter, name: str, layers: int, size: str) -> None:
    """What every file says about itself, tokenizer included."""
    w.add_name(name)
    w.add_size_label(size)
    w.add_license("apache-2.0")
    w.add_context_length(CTX)
    w.add_embedding_length(D)
    w.add_block_count(layers)
    w.add_feed_forward_length(FF)
    w.add_head_count(H)
    w.add_head_count_kv(KV)
    w.add_key_length(HD)
    w.add_value_length(HD)
    w.add_layer_norm_rms_eps(EPS)
    w.add_rope_freq_base(THETA)
    w.add_rope_dimension_count(HD)
    w.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("qwen2")
    w.add_token_list([t for t, _ in vocab])
    w.add_token_merges(merges)
    w.add_token_types(
        [gguf.TokenType.CONTROL if t in SPECIAL else gguf.TokenType.NORMAL for t, _ in vocab]
    )
    w.add_bos_token_id(0)
    w.add_eos_token_id(2)
    w.add_pad_token_id(0)
    w.add_mask_token_id(3)
    w.add_add_bos_token(False)
    w.add_chat_template(TEMPLATE)


def put(w: GGUFWriter, name: str, t: Tensor) -> None:
    """Matrices as F16, vectors as F32."""
    a = t.detach().float().numpy()
    w.add_tensor(name, a.astype(np.float16) if a.ndim == 2 else a)


def block(w: GGUFWriter, sd: dict[str, Tensor], p: str, i: int, gated: bool) -> None:
    """Write the weights under prefix ``p`` as layer ``i``."""
    m = {
        "attn_norm": "attn_norm.weight",
        "attn_q": "q.weight",
        "attn_k": "k.weight",
        "attn_v": "v.weight",
        "attn_output": "o.weight",
        "attn_q_norm": "qn.weight",
        "attn_k_norm": "kn.weight",
        "ffn_gate": "ffn.gate.weight",
        "ffn_up": "ffn.up.weight",
        "ffn_down": "ffn.down.weight",
        ("post_attention_norm" if gated else "ffn_norm"): (
            "post_norm.weight" if gated else "ffn_norm.weight"
        ),
    }
    for k, v in m.items():
        put(w, f"blk.{i}.{k}.weight", sd[p + v])


def nextn(w: GGUFWriter, sd: dict[str, Tensor], i: int) -> None:
    """Write the MTP head as layer ``i``."""
    block(w, sd, "mtp.", i, True)
    for k, v in {
        "eh_proj": "eh",
        "enorm": "enorm",
        "hnorm": "hnorm",
        "shared_head_norm": "mnorm",
    }.items():
        put(w, f"blk.{i}.nextn.{k}.weight", sd[v + ".weight"])


def pass_through(w: GGUFWriter) -> None:
    """Write block 0: a gated-delta-net layer whose output projections are zero.

    It makes the model a hybrid, as this architecture requires, and changes no activation.
    """
    z = torch.zeros
    for k, t in {
        "attn_norm": torch.ones(D),
        "post_attention_norm": torch.ones(D),
        "attn_qkv": z(3 * S, D),
        "attn_gate": z(S, D),
        "ssm_beta": z(1, D),
        "ssm_alpha": z(1, D),
        "ssm_norm": torch.ones(S),
        "ssm_out": z(D, S),
        "ffn_gate": z(FF, D),
        "ffn_up": z(FF, D),
        "ffn_down": z(D, FF),
    }.items():
        put(w, f"blk.0.{k}.weight", t)
    w.add_tensor("blk.0.ssm_conv1d.weight", np.zeros((3 * S, 4), np.float32))
    put(w, "blk.0.ssm_dt.bias", z(1))
    put(w, "blk.0.ssm_a", -torch.ones(1))


def idle(w: GGUFWriter, i: int) -> None:
    """Write a full attention block whose output projections are zero.

    It costs what a layer costs and changes no activation.
    """
    for k, shape in {
        "attn_q": (2 * H * HD, D),
        "attn_k": (KV * HD, D),
        "attn_v": (KV * HD, D),
        "ffn_gate": (FF, D),
        "ffn_up": (FF, D),
    }.items():
        put(w, f"blk.{i}.{k}.weight", torch.full(shape, 0.01))
    for k, shape in {"attn_output": (D, H * HD), "ffn_down": (D, FF)}.items():
        put(w, f"blk.{i}.{k}.weight", torch.zeros(shape))
    for k, n in {
        "attn_norm": D,
        "post_attention_norm": D,
        "attn_q_norm": HD,
        "attn_k_norm": HD,
    }.items():
        put(w, f"blk.{i}.{k}.weight", torch.ones(n))


def qwen35(path: pathlib.Path, sd: dict[str, Tensor], trunk: bool, pad: int = 0) -> None:
    """Write the target with ``pad`` idle layers, or (``trunk`` false) its MTP head alone."""
    w = gguf.GGUFWriter(path, "qwen35")
    name = "Slipstream Demo" + (" Deep" if pad else "") if trunk else "Slipstream Demo MTP"
    common(w, name, L + 2 + pad, "3M")
    if trunk:
        # Greedy unless asked otherwise: it knows so little that sampling only makes it stumble.
        w.add_float32("general.sampling.temp", 0.0)
    w.add_nextn_predict_layers(1)
    w.add_rope_dimension_sections([11, 11, 10, 0])
    w.add_array("qwen35.attention.recurrent_layers", [True] + [False] * (L + 1 + pad))
    w.add_ssm_conv_kernel(4)
    w.add_ssm_inner_size(S)
    w.add_ssm_state_size(S)
    w.add_ssm_time_step_rank(1)
    w.add_ssm_group_count(1)
    put(w, "token_embd.weight", sd["emb.weight"])
    put(w, "output_norm.weight", sd["norm.weight"])
    if trunk:
        pass_through(w)
        for i in range(L):
            block(w, sd, f"blocks.{i}.", i + 1, True)
        for i in range(pad):
            idle(w, L + 1 + i)
    nextn(w, sd, L + 1 + pad)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def dflash(path: pathlib.Path, sd: dict[str, Tensor]) -> None:
    """Write the DFlash drafter."""
    w = gguf.GGUFWriter(path, "dflash")
    common(w, "Slipstream Demo DFlash", DL, "2M")
    w.add_uint32("general.base_model.count", 2)
    w.add_string("general.base_model.0.name", "Slipstream Demo")
    w.add_string("general.base_model.1.name", "Slipstream Demo Deep")
    w.add_uint32("dflash.block_size", BLOCK)
    w.add_array("dflash.target_layers", TAPS)
    put(w, "fc.weight", sd["fc.weight"])
    put(w, "enc.output_norm.weight", sd["enc_norm.weight"])
    put(w, "output_norm.weight", sd["norm.weight"])
    for i in range(DL):
        block(w, sd, f"blocks.{i}.", i, False)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    t, d = torch.load("target.pt"), torch.load("drafter.pt")
    qwen35(out / "Slipstream-Demo-3M-F16.gguf", t, True)
    qwen35(out / "Slipstream-Demo-Deep-3M-F16.gguf", t, True, pad=20)
    qwen35(out / "mtp-Slipstream-Demo-3M-F16.gguf", t, False)
    dflash(out / "dflash-Slipstream-Demo-3M-F16.gguf", d)
    for f in sorted(out.glob("*.gguf")):
        print(f.name, f.stat().st_size)
