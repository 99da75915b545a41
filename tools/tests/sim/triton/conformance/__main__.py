"""The conformance table: error and what is allowed, in units of the last place."""

from tools.tests.sim.triton.conformance import all_cases
from tools.tests.sim.triton.conformance.case import Case


def row(case: Case) -> str:
    try:
        found = case.error()
        verdict = f"{found:8.3g} of {case.allowed:.3g}" + ("" if found <= case.allowed else "  differs")
    except Exception as refusal:
        verdict = f"{type(refusal).__name__}: {str(refusal).strip().splitlines()[0][:80]}  differs"
    return f"{case.operation:28} {case.dtype:30} {verdict}"


if __name__ == "__main__":
    for case in all_cases():
        print(row(case), flush=True)
