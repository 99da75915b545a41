"""Which program of the kernel has which tiles, and in which order. Given; nothing to write."""

import functools
import heapq

import torch

TOGETHER = 4  # heads whose tiles come one after the other: their keys and values fit the L2 cache


@functools.cache
def plan(heads: int, n_q: int, n_k: int, tile_m: int, tile_n: int, causal: bool, programs: int,
         device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """(starts, numbers), int32: program p has the tiles numbers[starts[p]:starts[p + 1]], in that order.

    heads: of all batches. Of TOGETHER heads the longest tiles come first, and each goes to the program that is free
    first. A tile takes as long as its tiles of keys and one more: its start and its end.
    """
    tiles_down = -(-n_q // tile_m)
    steps = [-(-(min(n_k, (row + 1) * tile_m) if causal else n_k) // tile_n) for row in range(tiles_down)]
    order = sorted(((head // TOGETHER, -steps[row], head, row) for head in range(heads) for row in range(tiles_down)))
    free = [(0, program) for program in range(programs)]
    mine: list[list[int]] = [[] for _ in range(programs)]
    for _, _, head, row in order:
        time, program = free[0]
        mine[program].append(head * tiles_down + row)
        heapq.heapreplace(free, (time + steps[row] + 1, program))
    starts = [0]
    for tiles in mine:
        starts.append(starts[-1] + len(tiles))
    return tuple(torch.tensor(each, dtype=torch.int32, device=device) for each in (starts, sum(mine, [])))
