"""`python -m tools.doctor`: every finding, printed plainly where what ./course needs is not installed."""

from tools.doctor import run
from tools.doctor.findings import Finding
from tools.doctor.surroundings import Surroundings


def lines(finding: Finding) -> list[str]:
    """The finding, and what to do below it."""
    remedy = [" " * 26 + line for line in finding.remedy.splitlines()]
    return [f"{finding.name:<14} {finding.state:<10} {finding.found}", *remedy]


def main() -> int:
    """Print all findings, group by group. The exit status: 1 where a problem stops lessons, else 0."""
    groups = []
    for group in run.examine(Surroundings()):
        groups.append(group)
        print(f"\n{group.title}\n")
        print("\n".join(line for finding in group.findings for line in lines(finding)), flush=True)
    return int(bool(run.problems(groups)))


if __name__ == "__main__":
    raise SystemExit(main())
