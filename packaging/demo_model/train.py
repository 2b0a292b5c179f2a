"""Train the demo target (qwen35: all attention, one MTP block) and its DFlash drafter.

Usage: train.py MINUTES_TARGET MINUTES_DRAFTER; reads corpus.json and tokenizer.json (made if it is
missing), writes target.pt and drafter.pt.

Names in shapes: B batch, T tokens, D width, H heads, KV key/value heads, HD head size, A anchors.
"""

import json
import math
import pathlib
import random
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn

torch.manual_seed(0)
random.seed(0)
torch.set_num_threads(2)
V, D, L, H, KV, HD, FF, CTX, EPS, THETA = 2048, 256, 3, 4, 2, 64, 512, 4096, 1e-6, 10000.0
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|mask|>"]
EOT, IMS, IME, MASK = 0, 1, 2, 3
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
minutes_target, minutes_draft = float(sys.argv[1]), float(sys.argv[2])
pairs = json.loads(pathlib.Path("corpus.json").read_text())

tok_path = pathlib.Path("tokenizer.json")
if not tok_path.exists():
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(
        (a + "\n" + b for a, b in pairs),
        trainers.BpeTrainer(
            vocab_size=V,
            special_tokens=SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    tok.save(str(tok_path))
tok = Tokenizer.from_file(str(tok_path))
assert tok.get_vocab_size() == V


def encode(ask: str, answer: str) -> list[int]:
    """One exchange in the chat template's form."""

    def enc(text: str) -> list[int]:
        return tok.encode(text, add_special_tokens=False).ids

    question = [IMS, *enc("user\n" + ask), IME, *enc("\n")]
    return [*question, IMS, *enc("assistant\n" + answer), IME, *enc("\n")]


ids = []
for a, b in pairs:
    ids += encode(a, b)
data = torch.tensor(ids, dtype=torch.long)
data = data[:-60000]  # the rest is held out
print(len(data), "tokens", flush=True)


class Norm(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.float(), (x.shape[-1],), self.weight.float(), EPS)


def rope(x: Tensor, pos: Tensor) -> Tensor:
    """Rotary positions, NeoX style: x [B,H,T,HD], pos [T] or [B,T]."""
    half = x.shape[-1] // 2
    inv = THETA ** (-torch.arange(0, half, dtype=torch.float32) * 2 / x.shape[-1])
    ang = pos[..., None].float() * inv
    while ang.dim() < x.dim():
        ang = ang.unsqueeze(-3)
    c, s = ang.cos(), ang.sin()
    a, b = x[..., :half].float(), x[..., half:].float()
    return torch.cat([a * c - b * s, b * c + a * s], -1)


class Ffn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(D, FF, False), nn.Linear(D, FF, False)
        self.down = nn.Linear(FF, D, False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class GatedBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn_norm, self.post_norm, self.qn, self.kn = Norm(D), Norm(D), Norm(HD), Norm(HD)
        self.q = nn.Linear(D, H * HD * 2, False)
        self.k, self.v = nn.Linear(D, KV * HD, False), nn.Linear(D, KV * HD, False)
        self.o, self.ffn = nn.Linear(H * HD, D, False), Ffn()

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        B, T, _ = x.shape
        n = self.attn_norm(x)
        qg = self.q(n).view(B, T, H, 2 * HD)
        q, g = qg[..., :HD], qg[..., HD:]
        q = rope(self.qn(q).transpose(1, 2), pos)
        k = rope(self.kn(self.k(n).view(B, T, KV, HD)).transpose(1, 2), pos)
        v = self.v(n).view(B, T, KV, HD).transpose(1, 2)
        k, v = k.repeat_interleave(H // KV, 1), v.repeat_interleave(H // KV, 1)
        a = (
            F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True)
            .transpose(1, 2)
            .reshape(B, T, H * HD)
        )
        x = x + self.o(a * torch.sigmoid(g.reshape(B, T, H * HD)))
        return x + self.ffn(self.post_norm(x))


class Target(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.blocks = nn.ModuleList(GatedBlock() for _ in range(L))
        self.norm = Norm(D)
        self.enorm, self.hnorm, self.eh = Norm(D), Norm(D), nn.Linear(2 * D, D, False)
        self.mtp, self.mnorm = GatedBlock(), Norm(D)
        for n, p in self.named_parameters():
            if p.dim() == 2:
                scale = 0.4 if n.endswith(("o.weight", "down.weight")) else 1
                nn.init.normal_(p, 0, 0.02 if "emb" in n else p.shape[1] ** -0.5 * scale)

    def trunk(self, t: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Last hidden states, and the input of every layer."""
        pos = torch.arange(t.shape[1])
        x = self.emb(t)
        inputs = []
        for b in self.blocks:
            inputs.append(x)
            x = b(x, pos)
        return self.norm(x), inputs

    def draft(self, t: Tensor, h: Tensor) -> Tensor:
        """MTP: pairs (x_p, h_{p-1}) predict x_{p+1}; the hidden state returned can be chained."""
        hp = torch.cat([torch.zeros_like(h[:, :1]), h[:, :-1]], 1)
        x = self.eh(torch.cat([self.enorm(self.emb(t)), self.hnorm(hp)], -1))
        return self.mnorm(self.mtp(x, torch.arange(t.shape[1])))

    def logits(self, h: Tensor) -> Tensor:
        return F.linear(h, self.emb.weight)


class DraftBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn_norm, self.ffn_norm, self.qn, self.kn = Norm(D), Norm(D), Norm(HD), Norm(HD)
        self.q = nn.Linear(D, H * HD, False)
        self.k, self.v = nn.Linear(D, KV * HD, False), nn.Linear(D, KV * HD, False)
        self.o, self.ffn = nn.Linear(H * HD, D, False), Ffn()

    def kv(self, n: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        B, T, _ = n.shape
        k = rope(self.kn(self.k(n).view(B, T, KV, HD)).transpose(1, 2), pos)
        v = self.v(n).view(B, T, KV, HD).transpose(1, 2)
        return k.repeat_interleave(H // KV, 1), v.repeat_interleave(H // KV, 1)


class DFlash(nn.Module):
    BLOCK, LAYERS = 8, 2
    TAPS = (1, 2)  # inputs of these target layers (GGUF target_layers)

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(len(self.TAPS) * D, D, False)
        self.enc_norm, self.norm = Norm(D), Norm(D)
        self.blocks = nn.ModuleList(DraftBlock() for _ in range(self.LAYERS))

    def forward(self, emb: nn.Embedding, tokens: Tensor, feats: Tensor, anchors: Tensor) -> Tensor:
        """Hidden [B,A,BLOCK,D] from tokens [B,T], feats [B,T,taps*D] and anchors [A]."""
        B, T = tokens.shape
        A, K = len(anchors), self.BLOCK
        g = self.enc_norm(self.fc(feats))
        ctx_pos = torch.arange(T)
        block = torch.full((B, A, K), MASK)
        block[:, :, 0] = tokens[:, anchors]
        x = emb(block.view(B, A * K))
        pos = (anchors[:, None] + torch.arange(K)).view(-1)
        see_ctx = ctx_pos[None] < anchors.repeat_interleave(K)[:, None]
        own = torch.arange(A).repeat_interleave(K)
        see_own = own[:, None] == own[None]
        mask = torch.cat([see_ctx, see_own], 1)[None, None]
        for b in self.blocks:
            ck, cv = b.kv(g, ctx_pos)
            n = b.attn_norm(x)
            k, v = b.kv(n, pos)
            q = rope(b.qn(b.q(n).view(B, A * K, H, HD)).transpose(1, 2), pos)
            k, v = torch.cat([ck, k], 2), torch.cat([cv, v], 2)
            a = (
                F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, attn_mask=mask)
                .transpose(1, 2)
                .reshape(B, A * K, H * HD)
            )
            x = x + b.o(a)
            x = x + b.ffn(b.ffn_norm(x))
        return self.norm(x).view(B, A, K, D)


def batch(src: Tensor, n: int, t: int) -> Tensor:
    """``n`` random stretches of ``t`` tokens and the two that follow."""
    i = torch.randint(0, len(src) - t - 2, (n,))
    return torch.stack([src[j : j + t + 2] for j in i])


def run(
    params: list[nn.Parameter],
    minutes: float,
    step: Callable[[], tuple[Tensor, str]],
    name: str,
    lr: float,
) -> None:
    """Train for ``minutes``: warm-up, then a cosine down to a twentieth of ``lr``."""
    opt = torch.optim.AdamW(params, lr=lr, betas=(0.9, 0.95), weight_decay=0.05)
    t0 = time.time()
    n = 0
    while True:
        f = (time.time() - t0) / (minutes * 60)
        if f >= 1:
            break
        for g in opt.param_groups:
            g["lr"] = lr * min(1, (n + 1) / 60) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * f)))
        with torch.autocast("cpu", torch.bfloat16):
            loss, msg = step()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        n += 1
        if n % 50 == 0:
            print(f"{name} {n} {f:.3f} {msg}", flush=True)


target = Target()
print(sum(p.numel() for p in target.parameters()) / 1e6, "M target", flush=True)


def target_step() -> tuple[Tensor, str]:
    """Next token, MTP, and MTP chained once."""
    b = batch(data, 12, 320)
    t = b[:, :-2]
    h, _ = target.trunk(t)
    main = F.cross_entropy(target.logits(h).float().flatten(0, 1), b[:, 1:-1].flatten())
    m = target.draft(t, h)
    aux = F.cross_entropy(target.logits(m).float().flatten(0, 1), b[:, 1:-1].flatten())
    m2 = target.draft(t, m)  # chained: own hidden fed back, as decoding does
    aux2 = F.cross_entropy(target.logits(m2).float().flatten(0, 1), b[:, 1:-1].flatten())
    return main + 0.3 * aux + 0.15 * aux2, f"main {main:.3f} mtp {aux:.3f} chained {aux2:.3f}"


# m at row p predicts x_{p+1} from (x_p, h_{p-1}); chaining pairs x_{p+1} with m_p,
# exactly draft(t, m) shifted by one.
run(list(target.parameters()), minutes_target, target_step, "target", 3e-3)
torch.save(target.state_dict(), "target.pt")
target.eval()
for p in target.parameters():
    p.requires_grad_(False)
drafter = DFlash()
print(sum(p.numel() for p in drafter.parameters()) / 1e6, "M drafter", flush=True)


def draft_step() -> tuple[Tensor, str]:
    """Cross-entropy to the target's own choices, weighted towards the first positions."""
    b = batch(data, 8, 320)
    t = b[:, :-2]
    with torch.no_grad():
        h, inputs = target.trunk(t)
        teacher = target.logits(h).float()
    feats = torch.cat([inputs[i] for i in DFlash.TAPS], -1).float()
    anchors = torch.randint(8, 320 - DFlash.BLOCK, (24,))
    y = drafter(target.emb, t, feats, anchors)[:, :, 1:]
    # mask i predicts x_{n+i}; teacher row n+i-1 gives its distribution
    idx = anchors[:, None] + torch.arange(0, DFlash.BLOCK - 1)
    logp = F.log_softmax(target.logits(y).float(), -1)
    hard = teacher[:, idx].argmax(-1)
    w = 0.8 ** torch.arange(DFlash.BLOCK - 1)
    ce = -logp.gather(-1, hard[..., None])[..., 0]
    hit = (logp.argmax(-1) == hard).float()
    acc = hit.cumprod(-1).sum(-1).mean()
    loss = (ce * w).sum(-1).mean() / w.sum()
    return loss, f"ce {ce.mean():.3f} first {hit[..., 0].mean():.3f} accepted/7 {acc:.2f}"


run(list(drafter.parameters()), minutes_draft, draft_step, "draft", 3e-3)
torch.save(drafter.state_dict(), "drafter.pt")
