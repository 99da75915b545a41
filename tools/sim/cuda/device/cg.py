"""Cooperative groups, as far as Numba has them: the whole grid, whose blocks can wait for each other."""

from tools.sim.cuda.run.intrinsic import Intrinsic, intrinsic
from tools.sim.cuda.run.warps import current


class GridGroup:
    """All threads of the launch."""

    @property
    def sync(self) -> Intrinsic:
        return _sync


@intrinsic(name="cuda.cg.this_grid().sync")
def _sync() -> None:
    current().grid_barrier()


@intrinsic(name="cuda.cg.this_grid")
def this_grid() -> GridGroup:
    """The group of all threads of the launch."""
    return GridGroup()
