"""Results that depend on more than the arguments."""

from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause


def differs_between_runs(symptoms: Symptoms) -> Cause | None:
    """The same call again gives something else."""
    if symptoms.kind != "values" or symptoms.repeated:
        return None
    return Cause(
        "differs_between_runs",
        "The same call again gave something else.\n"
        "What is never written, read too early, or left over from call to call?",
    )
