"""Attention in Triton: a block of rows of Q goes over the blocks of K and V (online softmax)."""
import sys

import torch
import triton
import triton.language as tl
from shown import Loop, bits

torch.manual_seed(0)


@triton.jit
def attention(q, k, v, out, length, scale, ROWS: tl.constexpr, COLS: tl.constexpr, WIDTH: tl.constexpr):
    head = tl.program_id(1) * length * WIDTH
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at, within = tl.arange(0, COLS), tl.arange(0, WIDTH)
    query = tl.load(q + head + rows[:, None] * WIDTH + within[None, :])
    largest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS, WIDTH], tl.float32)
    for first in range(0, length, COLS):
        keys = tl.load(k + head + (first + at)[None, :] * WIDTH + within[:, None])
        scores = tl.dot(query, keys) * scale
        above = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - above[:, None])
        shrink = tl.exp(largest - above)
        values = tl.load(v + head + (first + at)[:, None] * WIDTH + within[None, :])
        mixed = mixed * shrink[:, None] + tl.dot(weights.to(tl.float16), values)
        total = total * shrink + tl.sum(weights, 1)
        largest = above
    tl.store(out + head + rows[:, None] * WIDTH + within[None, :], (mixed / total[:, None]).to(tl.float16))


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
heads, length, width = 8, 512, 64
q, k, v = (torch.randn(heads, length, width, device="cuda", dtype=torch.float16) for _ in range(3))
out = torch.empty_like(q)


small = torch.empty_like(q)


def run(rows=64, to=out):
    attention[(length // rows, heads)](q, k, v, to, length, width**-0.5, ROWS=rows, COLS=64, WIDTH=width)


run()  # with wgmma on Hopper
run(16, small)  # with mma.sync
torch.cuda.synchronize()
with Loop():
    for _ in range(steps):
        run()
    torch.cuda.synchronize()
bits("out", out.cpu().numpy())
bits("out", small.cpu().numpy())
expected = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float())
print("right", bool((out.float() - expected).abs().max() < 2e-3))
