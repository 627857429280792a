"""A small transformer block, trained for some steps through torch.compile."""
import sys

import torch
from shown import Loop, bits

torch.manual_seed(0)
torch.backends.cuda.enable_flash_sdp(True)


class Block(torch.nn.Module):
    def __init__(self, width=128, heads=4):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) * (width // self.heads) ** -0.5
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(mixed)
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 50
block = torch.compile(Block().cuda())
optimizer = torch.optim.SGD(block.parameters(), lr=0.1)
x, goal = torch.randn(4, 64, 128, device="cuda"), torch.randn(4, 64, 128, device="cuda")


def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(block(x), goal)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(3):
    step()
torch.cuda.synchronize()
with Loop():
    for _ in range(steps):
        loss = step()
    torch.cuda.synchronize()
bits("loss", loss.detach().cpu().numpy())
for name, weight in block.named_parameters():
    bits(name, weight.detach().cpu().numpy())
