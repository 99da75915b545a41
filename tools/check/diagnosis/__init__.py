"""What went wrong, from what came back: small recognisers, each of which speaks only when its claim is true.

A recogniser takes Evidence and answers with a Cause or None. Its claim is tested on every element, and is not
made when luck would explain it as well. A wrong name is worse than none.
"""

import warnings

import numpy as np

from tools.check.diagnosis import arguments, kernels, kinds, order, places, precision, refusals, values
from tools.check.diagnosis.evidence import Evidence
from tools.check.diagnosis.words import Cause

__all__ = ["RECOGNISERS", "Cause", "Evidence", "diagnose", "diagnose_refusal"]

RECOGNISERS = (  # the first that speaks is believed, so what is surest and most specific comes first
    kinds.nothing_returned,
    kinds.wrong_type,
    kinds.input_modified,
    kinds.returns_its_input,
    kernels.never_launched,
    kernels.no_programs,
    kernels.nothing_stored,
    kernels.tail_not_stored,
    kernels.head_not_stored,
    places.nothing_written,
    places.partly_written,
    kinds.wrong_kind_of_number,
    kinds.wrong_dtype,
    kinds.wrong_device,
    kinds.wrong_strides,
    values.nan_and_infinity,
    values.all_zeros,
    values.all_the_same,
    values.wrong_sign,
    values.inverted,
    values.off_by_one,
    precision.narrowed_to_16_bits,
    arguments.argument_unchanged,
    order.transposed,
    order.reversed_order,
    order.not_reset,
    values.constant_factor,
    values.constant_offset,
    arguments.swapped_arguments,
    arguments.reversed_tuples,
    arguments.repeated_argument,
    arguments.neutral_argument,
    arguments.negated_argument,
    values.factor_of_one_number,
    order.shifted,
    places.block_repeated,
    precision.rounded_arguments,
    precision.narrowed_to_float32,
    arguments.transposed_argument,
    arguments.wrong_axis,
    kernels.row_by_row,
    kernels.misread_strides,
    kernels.padding_counted,
    kernels.tiles_exchanged,
    kernels.tile_left_over,
    arguments.arguments_cut_short,
    order.wrong_places,
    kinds.wrong_shape,
    kernels.whole_numbers,
    places.wrong_region,
    arguments.differs_between_runs,
    arguments.unused_argument,
)
REFUSED = (
    refusals.right_when_square,
    refusals.same_block,
    refusals.blocks_overlap,
    refusals.same_in_every_block,
    refusals.threads_overlap,
    refusals.one_too_many,
    refusals.mask_lets_through,
)


def diagnose(evidence: Evidence) -> Cause | None:
    """The likeliest cause of a wrong result, or None. Never raises, never warns, writes to nothing."""
    return _first_of(RECOGNISERS, evidence)


def diagnose_refusal(evidence: Evidence) -> Cause | None:
    """The same for a call that a simulator refused, so that nothing came back."""
    return _first_of(REFUSED, evidence)


def _first_of(recognisers: tuple, evidence: Evidence) -> Cause | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for recognise in recognisers:
            try:
                found = recognise(evidence)
            except Exception:  # an odd result must be reported as wrong, not as a fault of the diagnosis
                continue
            if found is not None:
                return found
    return None
