"""The class of a result: a word for its ratio to the strongest rival, and to the naive one."""

from dataclasses import dataclass

CLASSES = (  # from this share of the strongest rival's speed on, in words
    (1.1, "ahead"),
    (0.9, "holds its own"),
    (0.5, "within 2x"),
    (0.1, "within 10x"),
    (0.0, "far behind"),
)
LEGEND = (
    "holds its own: at least 0.9 of the strongest rival's speed (ahead: 1.1); within 2x: 0.5; within 10x: 0.1; "
    "far behind: less. Like the naive one: below 0.5, and at most 1.5 times as fast as that."
)
NAIVE, NAIVE_AT_MOST, NAIVE_BELOW = "like the naive one", 1.5, 0.5


@dataclass(frozen=True)
class Speed:
    """Own speed over another's: the other's seconds over our own, as a median with its interval."""

    rival: str
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (
            f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}" for ratio in (self.value, self.low, self.high)
        )
        return f"{value} of the speed of {self.rival} ({low} to {high})"


def result_class(strongest: Speed, naive: Speed | None) -> str:
    """The word for a result; two words where its interval reaches from one to another."""
    if naive and strongest.high < NAIVE_BELOW and naive.high <= NAIVE_AT_MOST:
        return NAIVE
    words = [_word(strongest.low), _word(strongest.high)]
    return " to ".join(dict.fromkeys(words))


def is_one(low: float, high: float) -> bool:
    """Does all of this interval lie in one class?"""
    return _word(low) == _word(high)


def _word(ratio: float) -> str:
    return next(word for bound, word in CLASSES if ratio >= bound)
