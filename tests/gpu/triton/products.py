"""Triton kernels on tensor cores: products in three types. On an H100 or H200 they are wgmma."""
import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    i = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        t = first + i
        A = tl.load(a + row[:, None] * sa + t[None, :], mask=(row[:, None] < m) & (t[None, :] < k), other=0.0)
        B = tl.load(b + t[:, None] * sb + col[None, :], mask=(t[:, None] < k) & (col[None, :] < n), other=0.0)
        sums = tl.dot(A, B, sums)
    inside = (row[:, None] < m) & (col[None, :] < n)
    tl.store(c + row[:, None] * sc + col[None, :], sums.to(c.dtype.element_ty), mask=inside)


torch.manual_seed(3)
for kind, bound in ((torch.float16, 1e-1), (torch.bfloat16, 1.0), (torch.float32, 1e-1)):
    a, b = torch.randn(120, 96, device="cuda").to(kind), torch.randn(96, 100, device="cuda").to(kind)
    # Tiles of 64 rows are wgmma on a Hopper; tiles of 16 are mma.
    for tile, warps in ((64, 4), (16, 1)):
        c = torch.empty(120, 100, device="cuda", dtype=kind)
        grid = (triton.cdiv(120, tile), triton.cdiv(100, tile))
        product[grid](a, b, c, 120, 100, 96, 96, 100, 100, tile, tile, 32, num_warps=warps)
        print("product", kind, tile, torch.allclose(c.float(), a.float() @ b.float(), atol=bound))
