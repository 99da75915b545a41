"""The gradients of attention for q, k and v, with a mistake in them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from tools.check.diagnosis.attention_found import ways
from tools.check.diagnosis.attention_inputs import Inputs, Part, largest
from tools.check.diagnosis.formulas import Mistake, float_arguments, reproduces, same, wide
from tools.check.diagnosis.steps import blocks
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause

MOST_SCORES = 2_000_000  # beyond which no formula is computed


@dataclass(frozen=True, eq=False)
class Backward:
    """part: all rows of queries of the forward. d: the gradient that arrives. of: "q", "k" or "v"."""

    part: Part
    d: np.ndarray
    of: str

    @cached_property
    def p(self) -> np.ndarray:
        m = largest(self.part.scores)
        e = np.exp(self.part.scores - m)
        return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)

    @cached_property
    def d_p(self) -> np.ndarray:
        return self.d @ self.part.inputs.v.swapaxes(-1, -2)

    @cached_property
    def delta(self) -> np.ndarray:
        """The sum of p * d_p of each query, which is that of out * d."""
        return (self.p * self.d_p).sum(-1, keepdims=True)

    def result(
        self, p: np.ndarray | None = None, delta: np.ndarray | float | None = None, d_p: np.ndarray | None = None
    ) -> np.ndarray:
        """The gradient if these were the weights, delta and d_p."""
        p = self.p if p is None else p
        d_scores = p * ((self.d_p if d_p is None else d_p) - (self.delta if delta is None else delta))
        return self.from_scores(p, d_scores * self.part.inputs.scale)

    def from_scores(self, p: np.ndarray, d_scores: np.ndarray) -> np.ndarray:
        """From the weights and the gradient of q . k. Heads that share keys are added up."""
        return self.added(self.by_head(p, d_scores))

    def by_head(self, p: np.ndarray, d_scores: np.ndarray) -> np.ndarray:
        inputs = self.part.inputs
        assert inputs.q is not None and inputs.k is not None
        if self.of == "q":
            return d_scores @ inputs.k
        return p.swapaxes(-1, -2) @ self.d if self.of == "v" else d_scores.swapaxes(-1, -2) @ inputs.q

    def grouped(self, each: np.ndarray) -> np.ndarray | None:
        """(..., heads of keys, heads that share them, n, d); None where none is shared."""
        heads = self.part.given.heads
        if heads is None or self.of == "q":
            return None
        return each.reshape(*each.shape[:-3], heads[1], heads[0] // heads[1], *each.shape[-2:])

    def added(self, each: np.ndarray) -> np.ndarray:
        grouped = self.grouped(each)
        return each if grouped is None else grouped.sum(-3)

    @property
    def d_scores(self) -> np.ndarray:
        return self.p * (self.d_p - self.delta) * self.part.inputs.scale


def of_the_scores(back: Backward, **changed: Callable[[Backward], np.ndarray | float]) -> np.ndarray | None:
    """The gradient of v has nothing to do with delta and d_p."""
    return None if back.of == "v" else back.result(**{name: change(back) for name, change in changed.items()})  # type: ignore[arg-type]


def scaled(back: Backward, power: int) -> np.ndarray | None:
    return None if back.of == "v" else back.result() * back.part.inputs.scale**power


def unmasked(back: Backward) -> np.ndarray:
    """Weights of all keys, with the sum of those that the forward saw."""
    m = largest(back.part.scores)
    total = np.exp(back.part.scores - m).sum(-1, keepdims=True)
    return back.result(p=np.exp(back.part.scaled - m) / total)


def not_divided(back: Backward) -> np.ndarray:
    return back.result(p=np.exp(back.part.scores - largest(back.part.scores)))


def turned(back: Backward) -> np.ndarray | None:
    """The weights, or the gradient of the scores, the other way round."""
    if back.p.shape[-1] != back.p.shape[-2]:
        return None
    return back.from_scores(back.p.swapaxes(-1, -2), back.d_scores.swapaxes(-1, -2))


def values_for_keys(back: Backward) -> np.ndarray | None:
    inputs = back.part.inputs
    if back.of == "v" or inputs.k is None or inputs.k.shape[-1] != back.d.shape[-1]:
        return None
    return back.result(d_p=back.d @ inputs.k.swapaxes(-1, -2))


def one_head(back: Backward, which: int) -> np.ndarray | None:
    grouped = back.grouped(back.by_head(back.p, back.d_scores))
    return None if grouped is None else grouped[..., which, :, :]


PLAIN = (
    Mistake(
        "delta_left_out",
        partial(of_the_scores, delta=lambda back: 0.0),
        "As if delta, the row sums of out * {d}, were 0: d_s is p * d_p.",
        "What does a larger score do to the other weights of its row?",
    ),
    Mistake(
        "out_left_out_of_delta",
        partial(of_the_scores, delta=lambda back: back.d.sum(-1, keepdims=True)),
        "As if delta were the row sums of {d}, and not of out * {d}.",
        "Which two are multiplied in delta?",
    ),
    Mistake(
        "scale_forgotten",
        partial(scaled, power=-1),
        "As if the scale of the scores were left out on the way back.",
        "By what were q . k multiplied, and is it in d_q and d_k?",
    ),
    Mistake(
        "scale_twice",
        partial(scaled, power=1),
        "As if the scale of the scores were multiplied by twice on the way back.",
        "Is it in the operands already?",
    ),
    Mistake(
        "mask_ignored",
        unmasked,
        "As if the weights were computed anew without the mask.",
        "Which keys did each query see in the forward?",
    ),
    Mistake(
        "not_divided",
        not_divided,
        "As if the weights were computed anew without their sum.",
        "Is it exp(s - max), or exp(s - lse)?",
    ),
    Mistake(
        "weights_transposed",
        turned,
        "As if the matrix of weights were transposed.",
        "Over which of its axes does this product sum: queries, or keys?",
    ),
    Mistake(
        "k_for_v",
        values_for_keys,
        "As if d_p were {d} times k, and not times v.",
        "Which matrix did the weights meet in the forward?",
    ),
    Mistake(
        "one_head_only",
        partial(one_head, which=-1),
        "As if of the heads that share keys only the last one counted.",
        "How do several heads add to one d_k?",
    ),
    Mistake(
        "one_head_only",
        partial(one_head, which=0),
        "As if of the heads that share keys only the first one counted.",
        "How do several heads add to one d_k?",
    ),
)


def some(back: Backward, block: int, last: bool) -> np.ndarray:
    """Only some of what is summed over: keys for q, queries for k and v."""
    axis = -1 if back.of == "q" else -2
    length = back.p.shape[axis]
    kept = np.arange(length) >= (length - 1) // block * block if last else np.arange(length) < block
    kept = kept if axis == -1 else kept[:, None]
    return back.from_scores(back.p * kept, back.d_scores * kept)


IN_BLOCKS = (
    Mistake(
        "last_block_only",
        partial(some, last=True),
        "As if only the {summed} from {last} on were added up.",
        "What of the sum so far is kept when the next block comes?",
    ),
    Mistake(
        "first_block_only",
        partial(some, last=False),
        "As if only the first {block} of {length} {summed} were added up.",
        "How many turns does the loop take?",
    ),
)


def attention_gradient_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or symptoms.here.want.dtype.kind != "f" or (found := find(symptoms)) is None:
        return None
    back, d = found
    for mistake, result, more in _tried(symptoms, back):
        said = symptoms.budget.call(result, back)
        if reproduces(symptoms, lambda call: said if call is symptoms.here else None):
            return mistake.said(d=symptoms.name_of(d), **more)
    return None


def _tried(symptoms: Symptoms, back: Backward) -> Iterator[tuple[Mistake, Callable, dict]]:
    for mistake in PLAIN:
        yield mistake, mistake.result, {}
    summed = "keys" if back.of == "q" else "queries"
    length = back.p.shape[-1 if back.of == "q" else -2]
    for block in [size for size in blocks(symptoms) if 1 < size < length]:
        facts = {"block": block, "length": length, "summed": summed, "last": (length - 1) // block * block}
        for mistake in IN_BLOCKS:
            yield mistake, partial(mistake.result, block=block), facts


def find(symptoms: Symptoms) -> tuple[Backward, int] | None:
    """The gradient that is wanted, and the place of d_out."""
    floats, want = float_arguments(symptoms), symptoms.here.want
    for places in combinations(floats, 3):
        q, k, v = (symptoms.args[i] for i in places)
        if min(each.ndim for each in (q, k, v)) < 2 or want.shape not in (q.shape, k.shape, v.shape):
            continue
        for d in [i for i in floats if i not in places and symptoms.args[i].shape == (*q.shape[:-1], v.shape[-1])]:
            for inputs in ways(symptoms, wide(q), [wide(k), wide(v)], False, {*places, d}):
                if found := _right(inputs, wide(symptoms.args[d]), (q, k, v), want, symptoms):
                    return found, d
    return None


def _right(inputs: Inputs, d: np.ndarray, qkv: tuple, want: np.ndarray, symptoms: Symptoms) -> Backward | None:
    if d.size // d.shape[-1] * inputs.keys > MOST_SCORES:
        return None
    part = symptoms.budget.call(inputs.part, np.arange(inputs.rows))
    for of, matrix in zip("qkv", qkv) if part else ():
        back = Backward(part, d, of)
        if matrix.shape == want.shape and same(symptoms.budget.call(back.result), want, symptoms.slack):
            return back
    return None
