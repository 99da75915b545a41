"""The order of blocks that is searched for is that of vector clocks, which are kept up with every event."""

from types import SimpleNamespace

import numpy as np
import pytest

from tools.sim.cuda.memory.chains import Chains

BLOCKS, ELEMENTS, EVENTS = 5, 3, 60


class Clocks:
    """Mattern's vector clocks: what each block has seen, what it has shown by its last fence, what an element holds."""

    def __init__(self):
        self.seen = [{block: 0} for block in range(BLOCKS)]
        self.fenced = [{} for _ in range(BLOCKS)]
        self.held = [{} for _ in range(ELEMENTS)]

    def fence(self, block, moment):
        self.seen[block][block] = moment
        self.fenced[block] = dict(self.seen[block])

    def update(self, block, element, changes):
        _join(self.seen[block], self.held[element])
        if changes:
            _join(self.held[element], self.fenced[block])


def _join(mine, other):
    for block, moment in other.items():
        mine[block] = max(mine.get(block, 0), moment)


@pytest.mark.parametrize("seed", range(20))
def test_a_search_finds_what_vector_clocks_know(seed):
    random = np.random.default_rng(seed)
    chains, clocks, storage = Chains(), Clocks(), SimpleNamespace(flat=np.zeros(ELEMENTS, np.int64))
    for _ in range(EVENTS):
        block, element = int(random.integers(BLOCKS)), int(random.integers(ELEMENTS))
        if random.random() < 0.4:
            chains.fence([block])
            clocks.fence(block, chains.now - 1)
        else:
            changes = random.random() < 0.6
            found = storage.flat[[element]]
            storage.flat[element] += changes
            chains.update(storage, np.array([element]), np.array([block]), found)
            clocks.update(block, element, changes)
        asked = int(random.integers(BLOCKS))
        found = {other: moment for other, moment in chains.seen_by(asked).items() if other != asked}
        assert found == {other: moment for other, moment in clocks.seen[asked].items() if other != asked and moment}


def test_many_updates_at_once_happen_in_turn():
    chains, storage = Chains(), SimpleNamespace(flat=np.array([3]))
    chains.fence(range(3))
    chains.update(storage, np.zeros(3, np.int64), np.arange(3), np.arange(3))
    assert [sorted(set(chains.seen_by(block)) - {block}) for block in range(3)] == [[], [0], [0, 1]]
