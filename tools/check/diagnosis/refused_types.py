"""Types that Triton refuses: a question beside its own words, which do not say what to look at."""

import re

from tools.check.diagnosis.refusals import said
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause

TYPE = r"(?:<\[[^]]*\], )?(\w+)>?(?:\[[\d, ]*\])?"  # <['16'], fp32> or int32[16]: a block's, and fp32 alone
CHANGES = re.compile(rf"Loop-carried variable (\w+) has initial type {TYPE} but is re-?\s?assigned to {TYPE} in loop")
TOO_SHORT = re.compile(r"Expected dtype \['fp32', 'fp64'\] but got (fp16|bf16)")
PLAIN = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


def type_changes_in_a_loop(symptoms: Symptoms) -> Cause | None:
    """A variable has one dtype before a loop and another one behind its first turn."""
    if not (found := CHANGES.search(said(symptoms))) or found[2] == found[3]:
        return None
    before, behind = (PLAIN.get(dtype, dtype) for dtype in found.group(2, 3))
    return cause(
        "type_changes_in_a_loop",
        f"{found[1]} begins as {before}, and a turn of the loop makes {behind} of it.",
        "Which of the two should it be from the start?",
    )


def too_short_for_a_function(symptoms: Symptoms) -> Cause | None:
    """tl.exp and its like take no floats of 16 bits."""
    if not (found := TOO_SHORT.search(said(symptoms))):
        return None
    return cause(
        "too_short_for_a_function",
        f"The function takes float32 or float64, and was given {PLAIN[found[1]]}.",
        "Which line should make float32 of it?",
    )
