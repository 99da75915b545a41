"""Small pictures of the machine to play with: each is a function of a few numbers and returns an SVG.

They show the models of tools/models, not a kernel: what belongs to whom, and what that costs.
"""

from tools.draw.explore.attention import attention
from tools.draw.explore.attention_tiles import tiled_attention
from tools.draw.explore.floats import float_bits, naive_softmax
from tools.draw.explore.fragments import fragments
from tools.draw.explore.matmul import tiled_matmul
from tools.draw.explore.online import online_softmax
from tools.draw.explore.pipeline import pipeline
from tools.draw.explore.places import banks, memory, sectors, tile_in_banks, view
from tools.draw.explore.softmax import stable_softmax
from tools.draw.explore.structs import structs
from tools.draw.explore.vectors import dot_product
from tools.draw.explore.work import branches, programs, tiles, warps, waves

__all__ = [
    "attention",
    "banks",
    "branches",
    "dot_product",
    "float_bits",
    "fragments",
    "memory",
    "naive_softmax",
    "online_softmax",
    "pipeline",
    "programs",
    "sectors",
    "stable_softmax",
    "structs",
    "tile_in_banks",
    "tiled_attention",
    "tiled_matmul",
    "tiles",
    "view",
    "warps",
    "waves",
]
