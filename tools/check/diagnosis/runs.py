"""What depends on more than the arguments."""

from tools.check.diagnosis.evidence import Evidence
from tools.check.diagnosis.words import Cause


def differs_between_runs(evidence: Evidence) -> Cause | None:
    """The same call again gives something else."""
    if evidence.fault != "values" or evidence.repeated:
        return None
    return Cause(
        "differs_between_runs",
        "The same call again gave something else.\nWhat is read before it is written, or left over from call to call?",
    )
