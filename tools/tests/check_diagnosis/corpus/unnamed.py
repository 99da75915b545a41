"""Mistakes of which no cause that is known is true, though a claim about some of their numbers would be."""

import numpy as np

from tools.tests.check_diagnosis.corpus import wrong_answer


def turn(i, stages):
    phase = i // stages % 2
    return i % stages, phase, 1 - phase


@wrong_answer(turn, lambda rng: (1, 3), "changes the phase with each item: right for 1 of 1, wrong for 2 of 2", "")
def turn_of_each_item(i, stages):
    return i % stages, i % 2, 1 - i % 2


@wrong_answer(turn, lambda rng: (0, 3), "waits for one phase in both roles, which is no count one too low", "")
def turn_of_one_phase(i, stages):
    phase = i // stages % 2
    return i % stages, phase, phase


def most_registers(of_producer):
    return (65536 - 128 * of_producer) // 256 // 8 * 8


@wrong_answer(most_registers, lambda rng: (24,), "counts one warp for four: right for 1 by rounding, and used", "")
def most_registers_beside_one_warp(of_producer):
    return (65536 - 32 * of_producer) // 256 // 8 * 8


def round_of(i, slots):
    return i // slots % 4


@wrong_answer(round_of, lambda rng: (5, 4), "counts the rounds of four from one: a place of a few has no end", "")
def round_from_one(i, slots):
    return i // slots % 4 + 1


def looked_up(table, ids):
    """Zeros for a row that does not exist."""
    return np.array([table[i] if 0 <= i < len(table) else 0 * table[0] for i in ids])


@wrong_answer(
    looked_up,
    lambda rng: (np.arange(1.0, 13).reshape(4, 3), np.array([2, 9, 0])),
    "takes the last row: the table's rows are no steps of a sum that might overlap",
    "",
)
def looked_up_as_far_as_there_are_rows(table, ids):
    return table[np.clip(ids, 0, len(table) - 1)]


def seconds(bytes_moved, rate, overhead):
    return bytes_moved / rate + overhead


@wrong_answer(
    seconds, lambda rng: (4e9, 4e9, 1e-3), "multiplies: beside 1.6e19 the overhead is lost, and it is used", ""
)
def seconds_multiplied(bytes_moved, rate, overhead):
    return bytes_moved * rate + overhead


def ragged_products(a, b):
    return a @ b


@wrong_answer(
    ragged_products,
    lambda rng: (rng.normal(size=(1, 4)), rng.normal(size=(4, 1))),
    "leaves out what is no whole block of 4, which is all: neither factor is used here, and both are",
    "",
)
def products_of_whole_blocks(a, b):
    result = np.zeros((len(a), b.shape[1]))
    rows, cols = len(a) // 4 * 4, b.shape[1] // 4 * 4
    result[:rows, :cols] = a[:rows] @ b[:, :cols]
    return result


def of_most_elements(first, second):
    """Of (elements, threads, blocks)."""
    return max(first, second)


@wrong_answer(
    of_most_elements,
    lambda rng: ((1, 256, 8), (2, 256, 8)),
    "takes the other one: a choice is no count that is one too low",
    "",
)
def of_fewest_elements(first, second):
    return min(first, second)


def largest(values):
    return max(values)


@wrong_answer(
    largest,
    lambda rng: ([-9.0, -3.0, -1.0, -2.0],),
    "takes the last: a choice that is twice the wanted number is no product",
    "",
)
def the_last_number(values):
    return values[-1]


def differences(x):
    return np.append(x[1:], 0) - x


@wrong_answer(
    differences,
    lambda rng: (np.array([5.0, 7.0, 4.0]),),
    "leaves out the last but one: right for a block of 2 and a block of 1, of which nobody spoke",
    "",
)
def differences_but_for_one(x):
    result = np.append(x[1:], 0) - x
    result[-2] = -x[-2]
    return result
