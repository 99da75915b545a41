"""A small transformer that learns to write, with any attention: where week 3 ends. Given; nothing to write.

    ./course python -m week3.day7.toy_block          50 steps with your attention and with an eager one, at toy size

The text is made by a rule: each line uses two letters of eight, drawn for that line, in random order. The letter before
tells one of the two; only attention to earlier ones finds the other. The loss of a step depends on how hard the lines
drawn for it are, so it goes up and down: compare the two columns.

benchmarks/transformer.py measures the same training at a real size, 16384 letters a step. On an H200 the peak with this
attention was 2364, 2372, 2394 and 2443 MiB for lines of 1024, 2048, 4096 and 8192 letters, with the eager one 4755,
8866, 17094 and 33574 MiB. PyTorch's own needs 1755 to 1839 MiB, and its backward is a kernel too: 486,108 letters a
second at 8192, yours 123,487, the eager one 151,108 (November 2026, benchmarks/transformer/h200.json).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import nn

LETTERS = 8


@dataclass(frozen=True)
class Size:
    """Lines of a step, letters of a line, and the widths of the block. `heads` query heads share `kv_heads`."""

    lines: int = 1
    length: int = 60
    width: int = 64
    heads: int = 2
    kv_heads: int = 1
    d: int = 64


class Block(nn.Module):
    """Letters in, scores of the next letter out: one transformer block between an embedding and a linear layer."""

    def __init__(self, attention: Callable, size: Size) -> None:
        super().__init__()
        self.attention, self.size = attention, size
        self.letter, self.place = nn.Embedding(LETTERS, size.width), nn.Embedding(size.length, size.width)
        self.before_attention, self.before_mlp, self.at_end = (nn.LayerNorm(size.width) for _ in range(3))
        self.qkv = nn.Linear(size.width, (size.heads + 2 * size.kv_heads) * size.d, bias=False)
        self.joined = nn.Linear(size.heads * size.d, size.width, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(size.width, 4 * size.width), nn.GELU(), nn.Linear(4 * size.width, size.width))
        self.scores = nn.Linear(size.width, LETTERS)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        x = self.letter(letters) + self.place.weight
        x = x + self.joined(self.attend(self.before_attention(x)))
        x = x + self.mlp(self.before_mlp(x))
        return self.scores(self.at_end(x))

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        """(lines, length, width) to (lines, length, heads * d); the attention itself in bfloat16."""
        size = self.size
        heads = self.qkv(x).to(torch.bfloat16).unflatten(-1, (-1, size.d)).transpose(1, 2)
        q, k, v = heads.split([size.heads, size.kv_heads, size.kv_heads], dim=1)
        return self.attention(q, k, v, True).transpose(1, 2).flatten(2).to(x.dtype)


def eager_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Attention as it is defined: all scores in memory, and again all weights."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = (q @ k.mT).float() * q.shape[-1] ** -0.5
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores.softmax(-1).to(v.dtype) @ v


def forward_in_pytorch(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float
                       ) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) with all scores in memory, for the dtypes that the kernel does not take: gradcheck needs float64."""
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    s = scale * q @ k.mT
    if causal:
        query, key = (torch.arange(length, device=q.device) for length in s.shape[2:])
        s = s.masked_fill(key > query[:, None], -torch.inf)
    lse = s.logsumexp(-1)
    return torch.exp(s - lse[..., None]) @ v, lse


def text(size: Size, draw: torch.Generator) -> torch.Tensor:
    """Lines of letters, one longer than a line of the block: each but the first is the answer to the one before."""
    two = torch.rand(size.lines, LETTERS, generator=draw).argsort(1)[:, :2]
    return two.gather(1, torch.randint(2, (size.lines, size.length + 1), generator=draw))


class AdamW:
    """Adam with weight decay. PyTorch's own imports its compiler first, which takes longer than 50 steps of this."""

    def __init__(self, parameters: Iterable[torch.Tensor], rate: float = 3e-3, decay: float = 0.01) -> None:
        self.parameters, self.rate, self.decay, self.steps = list(parameters), rate, decay, 0
        self.means, self.squares = ([torch.zeros_like(x) for x in self.parameters] for _ in range(2))

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters by their gradients, and forget these."""
        self.steps += 1
        for x, mean, square in zip(self.parameters, self.means, self.squares):
            x.mul_(1 - self.rate * self.decay)
            mean.lerp_(x.grad, 1 - 0.9)
            square.lerp_(x.grad ** 2, 1 - 0.999)
            spread = (square / (1 - 0.999 ** self.steps)).sqrt_().add_(1e-8)
            x.addcdiv_(mean, spread, value=-self.rate / (1 - 0.9 ** self.steps))
            x.grad = None


def training(attention: Callable, size: Size, device: str) -> Callable[[], torch.Tensor]:
    """A function that makes one step and returns its loss. The same weights and text whatever the attention."""
    with torch.random.fork_rng():
        torch.manual_seed(28)
        block = Block(attention, size).to(device)
    draw = torch.Generator().manual_seed(28)
    optimizer = AdamW(block.parameters())

    def step() -> torch.Tensor:
        letters = text(size, draw).to(device)
        loss = nn.functional.cross_entropy(block(letters[:, :-1]).flatten(0, 1), letters[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def losses(attention: Callable, steps: int, size: Size = Size()) -> list[float]:
    """The loss of each step."""
    from tools.gpu import device

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # in products as small as these, more threads only wait for each other
    try:
        step = training(attention, size, device)
        return [step().item() for _ in range(steps)]
    finally:
        torch.set_num_threads(threads)


def main() -> None:
    from week3.day7 import flash_attention

    both = [flash_attention.loss_curve(50, eager=eager) for eager in (False, True)]
    print("step   your attention   eager")
    for step in (0, 9, 19, 29, 39, 49):
        print(f"{step + 1:4}   {both[0][step]:14.4f}   {both[1][step]:5.4f}")
    print(f"largest difference of all 50 steps: {max(abs(a - b) for a, b in zip(*both)):.4f}")


if __name__ == "__main__":
    main()
