"""Mistakes of which no cause that is known is true, though a claim about some of their numbers would be."""

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
