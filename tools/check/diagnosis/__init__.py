"""What went wrong, from what came back: small recognisers, each of which speaks only when its claim is true.

A recogniser takes Evidence and answers with a Cause or None. Its claim is tested on every element, and is not
made when luck would explain it as well. A wrong name is worse than none.
"""

import warnings

import numpy as np

from tools.check.diagnosis import (
    arguments,
    clocks,
    forms,
    kernels,
    launches,
    lengths,
    order,
    parts,
    places,
    precision,
    refusals,
    runs,
    steps,
    tiles,
    values,
    whole_numbers,
)
from tools.check.diagnosis.evidence import Evidence
from tools.check.diagnosis.words import Cause

__all__ = ["RECOGNISERS", "Cause", "Evidence", "diagnose"]

VALUES = (  # the first that speaks is believed, so what is surest and most specific comes first
    clocks.clock_not_read,
    runs.differs_between_runs,
    clocks.work_not_done,
    clocks.clock_misread,
    forms.another_length,
    values.nan_and_infinity,
    launches.downloads_under_way,
    steps.no_steps_taken,
    values.all_zeros,
    values.all_the_same,
    values.wrong_sign,
    values.inverted,
    forms.rounded_down,
    values.off_by_one,
    whole_numbers.left_after_whole_blocks,
    values.wrapped_around,
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
    arguments.neutral_argument,
    arguments.usual_number,
    arguments.negated_argument,
    whole_numbers.numbers_mixed_up,
    parts.one_term_off,
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
    lengths.stored_otherwise,
    lengths.lengths_mixed_up,
    order.wrong_places,
    kernels.whole_numbers,
    places.wrong_region,
    arguments.unused_argument,
    arguments.whole_blocks,
)
RECOGNISERS = {  # by the name of the fault
    "values": VALUES,
    "never_written": (
        launches.never_launched,
        launches.no_programs,
        launches.store_not_reached,
        launches.nothing_stored,
        launches.tail_not_stored,
        launches.head_not_stored,
        lengths.lengths_mixed_up,
        places.nothing_written,
        launches.row_not_stored,
        places.partly_written,
    ),
    "wrong_shape": (
        order.transposed,
        arguments.argument_unchanged,
        arguments.swapped_arguments,
        arguments.repeated_argument,
        arguments.wrong_axis,
        forms.reshaped,
        lengths.lengths_mixed_up,
    ),
    "wrong_type": (forms.rounded_down,),
    "nothing_returned": (forms.no_return,),
    "raised": (clocks.work_not_done,),
    "refusal": (
        lengths.stored_otherwise,
        refusals.right_when_square,
        refusals.same_block,
        refusals.blocks_overlap,
        refusals.same_in_every_block,
        refusals.threads_overlap,
        lengths.lengths_mixed_up,
        refusals.index_from_data,
        refusals.one_too_many,
        refusals.mask_lets_through,
    ),
}


def diagnose(evidence: Evidence) -> Cause | None:
    """The likeliest cause of a fault, or None. Never raises, never warns, writes to nothing."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for recognise in RECOGNISERS.get(evidence.fault, ()):
            try:
                found = recognise(evidence)
            except Exception:  # an odd result must be reported as wrong, not as a fault of the diagnosis
                continue
            if found is not None:
                return found
    return None
