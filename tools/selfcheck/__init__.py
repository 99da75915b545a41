"""The course checks itself: its tools, its texts, and that each lesson's tests reject what they should."""


def main(argv: list[str]) -> int:
    """`./course check`: run the parts that `argv` asks for, print a report, and return an exit code."""
    from tools.selfcheck import check  # late: the processes that run units need none of it

    return check.main(argv)
