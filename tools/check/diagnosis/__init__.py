"""The likely cause of a wrong result: small recognisers, each of which speaks only when its claim is true.

A recogniser takes Symptoms and answers with a Cause or None. Its claim is tested on every element, and is not
made when luck would explain it as well. A wrong name is worse than none.
"""

from tools.check.diagnosis import (
    arguments,
    clocks,
    forms,
    gradients,
    launches,
    lengths,
    order,
    places,
    refusals,
    refused_types,
)
from tools.check.diagnosis.of_values import VALUES, Recogniser, first_cause
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause

__all__ = ["RECOGNISERS", "Cause", "Symptoms", "diagnose"]

RECOGNISERS: dict[str, tuple[Recogniser, ...]] = {  # by the kind of discrepancy
    "values": VALUES,
    "never_written": (
        launches.never_launched,
        launches.no_programs,
        launches.store_not_reached,
        launches.nothing_stored,
        launches.stored_twice,
        launches.left_out_of_a_store,
        launches.tail_not_stored,
        launches.head_not_stored,
        launches.row_not_stored,
        lengths.lengths_mixed_up,
        places.nothing_written,
        places.partly_written,
    ),
    "wrong_shape": (
        order.transposed,
        arguments.argument_unchanged,
        arguments.repeated_argument,
        arguments.wrong_axis,
        gradients.gradient_not_summed,
        forms.reshaped,
    ),
    "wrong_type": (forms.rounded_down,),
    "nothing_returned": (gradients.no_gradient, forms.no_return),
    "raised": (
        clocks.work_not_done,
        refusals.sum_of_another_type,
        refusals.summed_along_the_other_axis,
        refusals.stored_in_another_shape,
        refusals.larger_than_any_tile,
        refused_types.type_changes_in_a_loop,
        refused_types.too_short_for_a_function,
    ),
    "refusal": (
        lengths.stored_otherwise,
        refusals.right_when_square,
        refusals.same_block,
        refusals.blocks_overlap,
        refusals.same_in_every_block,
        refusals.threads_overlap,
        refusals.all_pass_it_on,
        lengths.lengths_mixed_up,
        refusals.index_from_data,
        refusals.one_too_many,
        refusals.mask_lets_through,
    ),
}


def diagnose(symptoms: Symptoms) -> Cause | None:
    """The likeliest cause of a discrepancy, or None. Never raises, never warns, writes to nothing."""
    return first_cause(RECOGNISERS.get(symptoms.kind, ()), symptoms)
