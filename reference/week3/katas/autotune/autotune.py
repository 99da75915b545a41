"""Week 3, kata: autotuning

Challenge
    A kernel for weights @ values can be launched in 432 ways. Leave out what cannot be good, and predict the rest. In a
    second sitting let the clock choose from the best eight, once for shapes that are alike, and weigh speed and digits.

        4 keys in blocks of one      weights  .237  .032  .087  .644      values  (1, 0)  (0, 1)  (1, 1)  (2, 0)
        SPLIT = 2   program 0: keys 0, 2     .237 (1, 0) + .087 (1, 1) = ( .324, .087)
                    program 1: keys 1, 3     .032 (0, 1) + .644 (2, 0) = (1.288, .032)
                    out, to which both add                               (1.612, .119)

Explore
    ./course week3/katas/autotune/explore_space.py    Which SPLIT suits one row of 65536 weights, and which 4096 rows?

Concept
    Config (week 1, day 7): one choice of a kernel's sizes, as a dict that a launch takes as **config. To compile one
    and time it may take a second; 432 take seven minutes. If a call gets 20 us faster by it, that is paid back after
    21.6 million calls.
    SPLIT: one row of weights is one tile. One program would read all its keys on one SM, and 131 SMs would wait. So
    SPLIT programs, along the grid's second axis, share the blocks of keys: block 0 is for program 0, block 1 for
    program 1, and so on in turn. tl.program_id(1) is the number there. Each adds its sum to out:
    tl.atomic_add(pointers, sums, mask=..., sem="relaxed"). "relaxed" puts no other memory in order. The function that
    launches puts zeros in out before that. With SPLIT = 1 a plain tl.store will do, and no zeros.
    Pruning: what may not run, or cannot be good, is never timed. `fits` has three rules for that.
    Cost model: it assumes that an SM has one program at a time, so 132 programs are one round, and 133 are two. (Often
    several find room: ./course compiled says how many.) A program moves bytes, multiplies and waits for memory, all at
    once, so the longest of the three counts. An example: m = 16 rows, n = 65536 keys, d = 64; BLOCK_M = 16,
    BLOCK_N = 64, SPLIT = 128, 3 stages. That is 1 round of 128 programs, each with 8 of the 1024 blocks, in 8 steps:
        moving        4 bytes * (8 * 64 * (16 + 64) loaded + 16 * 64 added to out) / 36 a nanosecond     4665 ns
        multiplying   8 * 2 * 16 * 64 * 64 flops / 507 a nanosecond in "ieee"                            2068 ns
        waiting       3 stages ask for 3 steps at once: 3 + 3 + 2 steps are 3 answers of 600 ns each     1800 ns
    32 rows would be 256 programs in 2 rounds, and each of the three twice as long.
    A model need not be right: one of the eight configs that it likes best has to be good. Of equals the first of SPACE
    are timed.
    Autotuner: triton.autotune(configs, key=[...], reset_to_zero=[...], prune_configs_by={...})(kernel) is a kernel
    whose launch names no config; a grid that depends on it is a function: kernel[lambda config: (config["SPLIT"],)].
    prune_configs_by has three entries: "early_config_prune": by_limits, a function that returns the configs that fit;
    "perf_model": by_model, which predicts; "top_k": how many of the fastest are timed, beside a perf_model only.
    Tuning key: key=[...] names parameters, constexpr or not. If one of them has a value that is new, the autotuner
    tunes again. While a text is written, n grows by one at each token: with "n" among the names you would tune for
    ever. So n goes into *buckets*, for which the kernel has m_bucket and n_bucket: triton.next_power_of_2(n) is 64 for
    33 to 64.
    Trials run on your tensors, and each adds to out once more. reset_to_zero=["out_ptr"] puts zeros there before each
    trial and after the last, and only then: the zeros for a launch that tunes nothing are yours, so put them at each.
    Accuracy: the clock does not look at results. Of the precisions (week 2, day 6) "tf32" is the fastest, and off by up
    to a thousandth. One choice *beats* another if it is neither slower nor less accurate, and better in one of the
    two. Those that none beats are the *Pareto front*. NaN is neither above a bound nor below: call it infinite.

Code it
    Task 1  weigh_kernel: given, but each of SPLIT programs weighs all keys; repair it. weigh: launch it  (ten lines)
    Task 2  fits, limits: what is worth a trial, and how long it should take                              (ten lines)
    Task 3  tuner, weigh_tuned: eight trials, once for each bucket                                      (seven lines)
    Task 4  worst_error, front, fastest_within: digits against nanoseconds                              (seven lines)

Verify
    pytest week3/katas/autotune        then: ./course quiz week3/katas/autotune
    Reflect: the model finds many configs equally good. Which of its assumptions would you refine first?

Simulated without a GPU: results, bytes and how often is tuned are exact; time is not simulated. Of the configs that are
left the first is used, which is the one that the model likes best.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import functools
import itertools
import math

import torch
import triton
import triton.language as tl

SPACE = [triton.Config({"BLOCK_M": block_m, "BLOCK_N": block_n, "SPLIT": split}, num_warps=warps, num_stages=stages)
         for block_m, block_n, split, warps, stages in itertools.product(
             (16, 64, 128), (32, 64, 128), (1, 2, 4, 8, 16, 32, 64, 128), (4, 8), (2, 3, 4))]
KEEP = 8          # configs that are timed
SHARED = 232448   # bytes of shared memory that a program can have
SUMS = 64         # float32 sums that a thread can keep in registers beside all else
SMS = 132         # of an H200; each has in a nanosecond, by its data sheet
BYTES = 36        # of memory, and
FLOPS = {"ieee": 507, "tf32x3": 1249, "tf32": 3748}
LATENCY = 600     # nanoseconds until memory answers


# Task 1
@triton.jit
def weigh_kernel(weights_ptr, values_ptr, out_ptr, m, n, m_bucket, n_bucket, D: tl.constexpr, PRECISION: tl.constexpr,
                 BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, SPLIT: tl.constexpr):
    """A tile of BLOCK_M rows of weights @ values; its SPLIT programs, along the grid's second axis, share the keys."""
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    col = tl.arange(0, D)[None, :]
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    for first in range(tl.program_id(1) * BLOCK_N, n, SPLIT * BLOCK_N):
        key = first + tl.arange(0, BLOCK_N)
        weights = tl.load(weights_ptr + row * n + key[None, :], mask=(row < m) & (key[None, :] < n), other=0.0)
        values = tl.load(values_ptr + key[:, None] * D + col, mask=key[:, None] < n, other=0.0)
        acc = tl.dot(weights, values, acc, input_precision=PRECISION)
    if SPLIT == 1:
        tl.store(out_ptr + row * D + col, acc, mask=row < m)
    else:
        tl.atomic_add(out_ptr + row * D + col, acc, mask=row < m, sem="relaxed")


def weigh(weights: torch.Tensor, values: torch.Tensor, config: dict, precision: str = "ieee", *,
          out: torch.Tensor | None = None) -> torch.Tensor:
    """weights @ values by weigh_kernel with one config, such as SPACE[0].all_kwargs().

    weights: (m, n), values: (n, d), float32, contiguous; d one of 16, 32, 64, 128; m * n, n * d and m * d
    below 2**31. m and n may be 0: without rows no program runs, without keys out is 0.
    precision: of FLOPS. out: (m, d) float32, contiguous, allocated if not given; what it held does not count.
    """
    (m, n), d = weights.shape, values.shape[1]
    out = torch.empty((m, d), dtype=torch.float32, device=weights.device) if out is None else out
    if config["SPLIT"] > 1:
        out.zero_()
    weigh_kernel[(triton.cdiv(m, config["BLOCK_M"]), config["SPLIT"])](
        weights, values, out, m, n, m, n, D=d, PRECISION=precision, **config)
    return out


# Task 2
def fits(n: int, d: int, config: dict) -> bool:
    """Is this config worth a trial for n keys and values (n, d)? All three have to hold:

    - num_stages steps fit in SHARED: each has tiles of BLOCK_M x BLOCK_N and BLOCK_N x d float32 there, as if the
      compiler kept all of them;
    - of BLOCK_M * d sums each of the 32 * num_warps threads has at most SUMS;
    - no program goes without a block of keys: SPLIT is at most the number of blocks.
    """
    block_m, block_n = config["BLOCK_M"], config["BLOCK_N"]
    shared = config["num_stages"] * 4 * block_n * (block_m + d)
    return (shared <= SHARED and block_m * d <= SUMS * 32 * config["num_warps"]
            and config["SPLIT"] <= triton.cdiv(n, block_n))


def limits(m: int, n: int, d: int, precision: str, config: dict) -> dict[str, float]:
    """Nanoseconds of a launch by each of three limits, as in the lesson: "moving", "multiplying", "waiting".

    Each is what one program takes, times the rounds: the last round counts in full, and so do tiles that are not full.
    A program has blocks / SPLIT steps, rounded up. Of its sums each is moved once, stored or added.
    """
    block_m, block_n = config["BLOCK_M"], config["BLOCK_N"]
    rounds = triton.cdiv(triton.cdiv(m, block_m) * config["SPLIT"], SMS)
    steps = triton.cdiv(triton.cdiv(n, block_n), config["SPLIT"])
    return {"moving": rounds * 4 * (steps * block_n * (block_m + d) + block_m * d) / BYTES,
            "multiplying": rounds * steps * 2 * block_m * block_n * d / FLOPS[precision],
            "waiting": rounds * triton.cdiv(steps, config["num_stages"]) * LATENCY}


def predict(m: int, n: int, d: int, precision: str, config: dict) -> float:
    """Nanoseconds that a launch should take. Given."""
    return max(limits(m, n, d, precision, config).values())


# Task 3
def by_limits(configs: list, named_args: dict, **options) -> list:
    """The configs that fit. Given, in the form that Triton wants: it is called with what a launch was called with."""
    return [config for config in configs if fits(named_args["n"], options["D"], config.all_kwargs())]


def by_model(m: int, n: int, D: int, PRECISION: str, **config) -> float:
    """What the model predicts. Given; Triton hands over all arguments of a launch, and the config."""
    return predict(m, n, D, PRECISION, config)


@functools.cache
def tuner() -> triton.runtime.Autotuner:
    """weigh_kernel with an autotuner over SPACE, which times the best KEEP of those that fit.

    It tunes anew for another bucket of m or n, another D or another PRECISION, and for nothing else.
    """
    return triton.autotune(
        SPACE, key=["m_bucket", "n_bucket", "D", "PRECISION"], reset_to_zero=["out_ptr"],
        prune_configs_by={"early_config_prune": by_limits, "perf_model": by_model, "top_k": KEEP})(weigh_kernel)


def weigh_tuned(weights: torch.Tensor, values: torch.Tensor, precision: str = "ieee", *,
                out: torch.Tensor | None = None) -> torch.Tensor:
    """The same as weigh, by the config that the tuner chooses. n at least 1, and so is m."""
    (m, n), d = weights.shape, values.shape[1]
    out = torch.empty((m, d), dtype=torch.float32, device=weights.device) if out is None else out
    out.zero_()
    tuner()[lambda config: (triton.cdiv(m, config["BLOCK_M"]), config["SPLIT"])](
        weights, values, out, m, n, triton.next_power_of_2(m), triton.next_power_of_2(n), D=d, PRECISION=precision)
    return out


def timed(m: int, n: int, d: int, precision: str = "ieee") -> list[dict]:
    """The configs that the tuner would time for these sizes, those that the model likes best first. Given."""
    kernel = tuner()
    kernel.nargs = {"m": m, "n": n}
    return [config.all_kwargs() for config in kernel.prune_configs({"D": d, "PRECISION": precision})]


def tunings(calls: list[tuple]) -> list[dict]:
    """What a new tuner tunes for in calls of weigh_tuned with these (m, n, d, precision): its key's values. Given."""
    tuner.cache_clear()
    for m, n, d, precision in calls:
        weigh_tuned(*(torch.ones(shape, device=tools.gpu.device) for shape in ((m, n), (n, d))), precision)
    return [dict(zip(tuner().keys, values)) for values in tuner().cache]


# Task 4
def worst_error(got: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest |got - exact|, over the largest |exact|. math.inf if a number of got is NaN or infinite.

    exact: float64, finite, not all 0. got: of the same shape, at least one number.
    """
    error = ((got - exact).abs().max() / exact.abs().max()).item()
    return error if error < math.inf else math.inf


def front(choices: dict[str, tuple[float, float]]) -> list[str]:
    """The names of those choices that no other one beats, in the order of choices.

    choices: by name, nanoseconds and error, neither of them NaN. Two that are equal in both do not beat each other.
    """
    def beaten(mine: tuple, other: tuple) -> bool:
        return other[0] <= mine[0] and other[1] <= mine[1] and other != mine

    return [name for name, mine in choices.items() if not any(beaten(mine, other) for other in choices.values())]


def fastest_within(choices: dict[str, tuple[float, float]], bound: float) -> str:
    """The fastest choice whose error is at most `bound`; of equally fast ones the most accurate.

    Raises ValueError if there is none. choices: as of front.
    """
    within = [name for name in choices if choices[name][1] <= bound]
    return min(within, key=lambda name: choices[name])


def study(weights: torch.Tensor, values: torch.Tensor) -> dict[str, tuple[float, float]]:
    """For each precision: nanoseconds that the model predicts for its best config, and the worst error. Given."""
    (m, n), d = weights.shape, values.shape[1]
    exact = weights.double() @ values.double()
    return {precision: (predict(m, n, d, precision, timed(m, n, d, precision)[0]),
                        worst_error(weigh_tuned(weights, values, precision), exact)) for precision in FLOPS}


# Given: a look at each program, for the tests of task 1
def keys_of_each(n: int, config: dict) -> list[list[int]]:
    """How often each of a tile's SPLIT programs weighs each of n keys, by launches of 1, 2, ... programs. Given.

    n: at most 128; the value of key k is 1 in column k.
    """
    weights, values = torch.ones((1, n), device=tools.gpu.device), torch.eye(n, 128, device=tools.gpu.device)
    out, weighed = torch.empty((1, 128), device=tools.gpu.device), [[0] * n]
    for programs in range(1, config["SPLIT"] + 1):
        weigh_kernel[(1, programs)](weights, values, out.zero_(), 1, n, 1, n, D=128, PRECISION="ieee", **config)
        weighed.append([int(times) for times in out[0, :n].tolist()])
    return [[more - less for less, more in zip(*launches)] for launches in itertools.pairwise(weighed)]
