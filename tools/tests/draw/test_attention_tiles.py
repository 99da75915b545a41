"""Tiles of scores: the picture says and draws what brute force finds."""

from xml.etree import ElementTree

import numpy as np
import pytest

from tools.draw import explore


def told(svg: str) -> str:
    """The line below the title."""
    return ElementTree.fromstring(svg).find("{*}desc").text


def tips(svg: str) -> list[str]:
    """What a pointer is told over each part of the picture."""
    return [tip.text for tip in ElementTree.fromstring(svg).iterfind(".//{*}rect/{*}title")]


@pytest.mark.parametrize(
    "n_q, n_k, tile_m, tile_n", [(48, 48, 16, 16), (40, 24, 16, 32), (1, 64, 8, 16), (20, 9, 8, 4)]
)
@pytest.mark.parametrize("causal", [True, False])
def test_a_tile_of_scores_is_multiplied_if_a_query_sees_a_key_of_it(n_q, n_k, tile_m, tile_n, causal):
    seen = np.arange(n_k) <= np.arange(n_q)[:, None] if causal else np.ones((n_q, n_k), bool)
    wanted, multiplied, keys = [], 0, 0
    for first in range(0, n_q, tile_m):
        keys += seen[first : first + tile_m].any(0).sum()
        for start in range(0, n_k, tile_n):
            tile = seen[first : first + tile_m, start : start + tile_n]
            multiplied += tile.any()
            what = "every score is seen" if tile.all() else "some scores are hidden" if tile.any() else "skipped"
            queries, of_keys = (f"{at} to {at + side - 1}" for at, side in zip((first, start), tile.shape))
            wanted.append(f"queries {queries}, keys {of_keys}: {what}")
    svg = explore.tiled_attention(n_q, n_k, tile_m, tile_n, causal)
    assert tips(svg) == wanted
    assert told(svg).startswith(f"{multiplied} of {len(wanted)} tile")
    assert f"{keys} key" in told(svg)
