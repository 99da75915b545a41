"""Functions of a few whole numbers, such as lengths and sizes of blocks: right where two of them are equal, where one
divides the others, or where one is a power of two. Tried by calls with other numbers."""

from itertools import combinations, cycle

import numpy as np

from tools.check.diagnosis.numbers import varied
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause, cause

LEFT_AFTER = "What is left after whole blocks?"
MOST = 6  # numbers of a call
FEW = 8  # numbers of a result
APART = 0, 1, 3, 8  # how far further calls lie away
ENOUGH = 2  # of these that are wrong
EQUAL = 2, 3, 4, 6, 7, 9  # for both numbers: even and odd
ENOUGH_EQUAL = 3  # of these that are right
LENGTHS = 3, 5, 11, 70  # none of them a power of two


def numbers_mixed_up(symptoms: Symptoms) -> Cause | None:
    """One number in place of another: right where they are equal, whatever else they are, wrong where they are not."""
    numbers = _numbers(symptoms)
    others = [other for by in APART if numbers and _right(symptoms, other := _all_other(numbers, by)) is False][:ENOUGH]
    if len(others) < ENOUGH:
        return None
    apart = [(one, two) for one, two in combinations(numbers, 2) if numbers[one] != numbers[two]]  # else it were right
    pairs = [pair for pair in apart if _right_where_equal(symptoms, others, *pair)]
    if len(pairs) != 1:
        return None
    one, two = pairs[0]
    return cause("lengths_mixed_up", f"It is right where {one} and {two} are equal.", "Where are the two mixed up?")


def _right_where_equal(symptoms: Symptoms, others: list[dict[str, int]], one: str, two: str) -> bool:
    """Of each of these numbers with one of the two for both; then of several for both, of which none may be wrong.

    What is wanted may not be the same of all of them: where it is always 0, say, many mistakes are right.
    """
    for_both = [_call(symptoms, other | {a: other[b]}) for other in others for a, b in ((one, two), (two, one))]
    if not all(map(symptoms.is_right, for_both)):
        return False
    equal = [_call(symptoms, other | {one: both, two: both}) for both, other in zip(EQUAL, cycle(others))]
    judged = [symptoms.is_right(call) for call in equal]
    wanted = [call.want for call in (*for_both, *equal) if call.want is not None]
    is_constant = all(np.array_equal(want, wanted[0]) for want in wanted)
    return False not in judged and judged.count(True) >= ENOUGH_EQUAL and not is_constant


def left_after_whole_blocks(symptoms: Symptoms) -> Cause | None:
    """A quotient that was rounded: right where one number divides some of the others."""
    numbers = _numbers(symptoms)
    for block in [name for name, value in numbers.items() if value > 1]:
        whole = _whole(numbers, block, [name for name in numbers if name != block], more=1)
        names = [
            name
            for name in numbers
            if name != block
            and any(_right(symptoms, whole | {name: whole[name] + by}) is False for by in (1, numbers[block] - 1))
        ]
        tried = [
            _whole(numbers | {block: size}, block, names, more)
            for size in (numbers[block], 2 * numbers[block], numbers[block] + 1)
            for more in (0, 1, 2)
        ]
        if names and _right(symptoms, whole) and all(_right(symptoms, other) for other in tried):
            return cause("left_after_blocks", f"It is right where {block} divides {' and '.join(names)}.", LEFT_AFTER)
    return None


def next_power_of_two(symptoms: Symptoms) -> Cause | None:
    """What is wanted of a whole block, whose length is the next power of two above one of the numbers."""
    numbers = _numbers(symptoms)
    for name, value in numbers.items():
        if value == _block(value):
            continue
        lengths = [numbers | {name: length} for length in (value, *LENGTHS)]
        if all(_as_of_the_block(symptoms, each, name) for each in lengths):
            seen = f"It would be right for {name} = {_block(value)}, the next power of two."
            return cause("next_power_of_two", seen, f"What do the places beyond {name} add?")
    return None


def _block(length: int) -> int:
    return 1 << (length - 1).bit_length()


def _as_of_the_block(symptoms: Symptoms, numbers: dict[str, int], name: str) -> bool:
    """Is it the same for the number and for the next power of two, right for that, and wrong for the number?"""
    own, whole = _call(symptoms, numbers), _call(symptoms, numbers | {name: _block(numbers[name])})
    same = own.got is not None and whole.want is not None and np.array_equal(own.got, whole.want)
    return bool(same and symptoms.is_right(own) is False and symptoms.is_right(whole) is True)


def _whole(numbers: dict[str, int], block: str, names: list[str], more: int) -> dict[str, int]:
    """With these of them whole blocks, so many more, and each a different number of them."""
    size = numbers[block]
    return numbers | {name: (-(-numbers[name] // size) + more * (place + 1)) * size for place, name in enumerate(names)}


def _numbers(symptoms: Symptoms) -> dict[str, int]:
    """The whole numbers of a call by name, where it takes at least two and no arrays; else none."""
    named = dict(zip(map(symptoms.name_of, range(len(symptoms.args))), symptoms.args)) | symptoms.keywords
    found = {name: value for name, value in named.items() if type(value) is int and value > 0}
    usual = all(isinstance(value, (int, float, str)) for value in named.values())
    asks = symptoms.comparable and symptoms.here.got.size <= FEW and symptoms.again is not None and not symptoms.is_slow
    return found if asks and usual and 2 <= len(found) <= MOST else {}


def _all_other(numbers: dict[str, int], by: int) -> dict[str, int]:
    """All of them different."""
    other = {name: varied(value, by * (2 * place + 1)) for place, (name, value) in enumerate(numbers.items())}
    return (
        other
        if len(set(other.values())) == len(other)
        else {name: value + by * place for place, (name, value) in enumerate(other.items())}
    )


def _right(symptoms: Symptoms, numbers: dict[str, int]) -> bool | None:
    return symptoms.is_right(_call(symptoms, numbers))


def _call(symptoms: Symptoms, numbers: dict[str, int]) -> Call:
    """One more call, with these numbers."""
    args = tuple(numbers.get(symptoms.name_of(i), arg) for i, arg in enumerate(symptoms.args))
    keywords = {name: value for name, value in numbers.items() if name in symptoms.keywords}
    return symptoms.compare(args, **keywords)
