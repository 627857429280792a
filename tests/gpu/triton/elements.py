"""Triton kernels that need no tensor core and no shared memory, or little: a sum, a transpose, counts, a copy."""
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def transpose(x, out, rows, cols, TILE: tl.constexpr):
    r = tl.program_id(0) * TILE + tl.arange(0, TILE)
    c = tl.program_id(1) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + r[:, None] * cols + c[None, :])
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(tile))


@triton.jit
def count(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.atomic_add(counts + tl.load(x + i, mask=inside, other=0), 1, mask=inside)


@triton.jit
def copy_columns(x, out, x_stride, out_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    tl.store(out + row * out_stride + c, tl.load(x + row * x_stride + c, mask=inside), mask=inside)


torch.manual_seed(1)
x, y = torch.randn(4000, device="cuda"), torch.randn(4000, device="cuda")
out = torch.empty_like(x)
add[(4,)](x, y, out, 4000, 1024)
print("add", torch.equal(out, x + y))
matrix, turned = torch.randn(128, 64, device="cuda"), torch.empty(64, 128, device="cuda")
transpose[(4, 2)](matrix, turned, 128, 64, 32)
print("transpose", torch.equal(turned, matrix.t()))
values = torch.randint(0, 64, (4000,), device="cuda", dtype=torch.int32)
counts = torch.zeros(64, device="cuda", dtype=torch.int32)
count[(4,)](values, counts, 4000, 1024)
print("count", torch.equal(counts.long(), torch.bincount(values, minlength=64)))
wide, narrow = torch.randn(32, 100, device="cuda"), torch.zeros(32, 50, device="cuda")
part = wide[:, 7:57]
copy_columns[(32,)](part, narrow, part.stride(0), narrow.stride(0), 50, 64)
print("copy_columns", torch.equal(narrow, part))
