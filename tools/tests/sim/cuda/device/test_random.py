"""Random numbers: those of numba-cuda, bit for bit."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.device import random
from tools.tests.sim.cuda.device.running import run

theirs = pytest.importorskip("numba.cuda.random", reason="needs numba-cuda, to compare with")


def their_states(n: int, seed: int, start: int = 0) -> np.ndarray:
    states = np.empty(n, theirs.xoroshiro128p_dtype)
    theirs.init_xoroshiro128p_states_cpu(states, seed, start)
    return states


@pytest.mark.parametrize("n, seed, start", [(1, 0, 0), (2, 1, 0), (37, 12345, 0), (5, 2**40 + 7, 3)])
def test_the_states_are_2_to_the_64_steps_apart(n, seed, start):
    assert random.states(n, seed, start).tobytes() == their_states(n, seed, start).tobytes()


def test_states_are_made_on_the_device():
    states = random.create_xoroshiro128p_states(5, seed=3, subsequence_start=2)
    assert states.copy_to_host().tobytes() == their_states(5, 3, 2).tobytes()


def draws(states, numbers, singles, doubles, short, long):
    i = cuda.grid(1)
    if i < numbers.size:
        numbers[i] = random.xoroshiro128p_next(states, i)
        singles[i] = random.xoroshiro128p_uniform_float32(states, i)
        doubles[i] = random.xoroshiro128p_uniform_float64(states, i)
        short[i] = random.xoroshiro128p_normal_float32(states, i)
        long[i] = random.xoroshiro128p_normal_float64(states, i)


def test_each_lane_draws_from_its_own_generator():
    n = 50
    states, want = random.states(n, 9), their_states(n, 9)
    got = [np.zeros(n, kind) for kind in (np.uint64, np.float32, np.float64, np.float32, np.float64)]
    for _ in range(3):
        run(draws, 2, 32, states, *got)
        functions = (
            theirs.xoroshiro128p_next,
            theirs.xoroshiro128p_uniform_float32,
            theirs.xoroshiro128p_uniform_float64,
            theirs.xoroshiro128p_normal_float32,
            theirs.xoroshiro128p_normal_float64,
        )
        for i in range(n):
            drawn = [function(want, i) for function in functions]
            assert [each[i] for each in got[:3]] == drawn[:3]
            assert [float(each[i]) for each in got[3:]] == pytest.approx([float(each) for each in drawn[3:]], rel=1e-5)
    assert states.tobytes() == want.tobytes()
