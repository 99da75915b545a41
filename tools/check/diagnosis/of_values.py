"""The recognisers of wrong values, in the order in which they are asked; and how they are asked."""

import warnings
from collections.abc import Callable, Iterable

import numpy as np

from tools.check.diagnosis import (
    arguments,
    attention,
    attention_gradients,
    clocks,
    dropout,
    forms,
    gradients,
    kernels,
    launches,
    lengths,
    norm_gradients,
    norms,
    off_by_one,
    order,
    parts,
    places,
    precision,
    runs,
    softmax,
    softmax_gradients,
    steps,
    tiles,
    unused,
    values,
    whole_numbers,
)
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause

Recogniser = Callable[[Symptoms], Cause | None]

VALUES = (  # the first that speaks is believed, so what is surest and most specific comes first
    clocks.clock_not_read,
    runs.differs_between_runs,
    clocks.work_not_done,
    clocks.clock_misread,
    forms.another_length,
    softmax.softmax_gone_wrong,
    attention.attention_gone_wrong,
    norms.norm_gone_wrong,
    dropout.dropout_gone_wrong,
    softmax_gradients.softmax_gradient_gone_wrong,
    norm_gradients.norm_gradient_gone_wrong,
    attention_gradients.attention_gradient_gone_wrong,
    gradients.gradient_gone_wrong,
    values.nan_and_infinity,
    precision.sign_of_zero_lost,
    launches.downloads_under_way,
    steps.no_steps_taken,
    values.all_zeros,
    values.all_the_same,
    values.wrong_sign,
    values.inverted,
    forms.rounded_down,
    off_by_one.off_by_one,
    whole_numbers.left_after_whole_blocks,
    values.wrapped_around,
    precision.ones_lost,
    precision.narrowed_to_16_bits,
    arguments.argument_unchanged,
    order.transposed,
    order.exchanged_pair,
    order.reversed_order,
    order.not_reset,
    values.constant_factor,
    values.constant_offset,
    values.a_power,
    arguments.swapped_arguments,
    arguments.reversed_tuples,
    arguments.repeated_argument,
    unused.neutral_argument,
    unused.usual_number,
    arguments.negated_argument,
    whole_numbers.next_power_of_two,
    whole_numbers.numbers_mixed_up,
    parts.one_term_off,
    parts.one_term_scaled,
    values.factor_of_few_numbers,
    order.shifted,
    places.block_repeated,
    precision.rounded_arguments,
    precision.narrowed_to_float32,
    arguments.transposed_argument,
    arguments.wrong_axis,
    kernels.row_by_row,
    kernels.misread_strides,
    kernels.padding_counted,
    tiles.bounds_exchanged,
    steps.some_steps_taken,
    steps.each_block_alone,
    tiles.tiles_gone_wrong,
    lengths.lengths_mixed_up,
    order.wrong_places,
    places.wrong_region,
    unused.unused_argument,
    arguments.whole_blocks,
    parts.told_apart,
)


def first_cause(recognisers: Iterable[Recogniser], symptoms: Symptoms) -> Cause | None:
    """The cause that the first of them speaks of which speaks at all. Never raises, never warns."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for recognise in recognisers:
            try:
                found = recognise(symptoms)
            except Exception:  # an odd result must be reported as wrong, not as a fault of the diagnosis
                continue
            if found is not None:
                return found
    return None
