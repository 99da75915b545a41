"""course quiz asks one question at a time and gives the reason at once, from a terminal or a pipe."""

import io

import pytest

from tools.cli.__main__ import main
from tools.tests.course.miniature import DAY, DIAGNOSTIC, QUIZ, write


@pytest.fixture
def take(tmp_path, capsys, monkeypatch):
    """take("32\\nb\\n") -> what `course quiz week1/day1` prints when that is typed."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def take(typed: str, day: str = DAY + QUIZ) -> str:
        write(tmp_path, day=day)
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main(["quiz", "week1/day1"], tmp_path) == 0
        return capsys.readouterr().out

    return take


def test_a_whole_quiz(take):
    assert (
        take("32\na\n")
        == """\
Small: 2 questions, q to stop

1   How many lanes has a warp?
    > 32
    Right. A warp is 32 threads.

2   A warp diverges. What happens?
    a  an error
    b  both arms run
    > a
    No. Divergence is legal.

1 of 2 right.
2   Divergence is legal.
"""
    )


def test_what_is_no_answer_is_asked_again(take):
    assert take("many\n\n32\nz\nB\n").splitlines()[2:] == [
        "1   How many lanes has a warp?",
        "    > many",
        "    Answer with a number, such as 12, 98_432 or 0.5, or q to stop.",
        "    > ",
        "    Answer with a number, such as 12, 98_432 or 0.5, or q to stop.",
        "    > 32",
        "    Right. A warp is 32 threads.",
        "",
        "2   A warp diverges. What happens?",
        "    a  an error",
        "    b  both arms run",
        "    > z",
        "    Answer with one letter, a to b, or q to stop.",
        "    > B",
        "    Right. One after the other.",
        "",
        "2 of 2 right.",
    ]


@pytest.mark.parametrize("typed", ["32\nq\n", "32\nQ\n", "32\n", "32"])
def test_q_or_the_end_of_the_input_stops_with_the_score_so_far(take, typed):
    assert take(typed).splitlines()[-1] == "1 of 1 right, 1 question left."


def test_an_interrupt_stops_like_q(take, monkeypatch):
    def interrupt(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    assert take("").splitlines()[-1] == "0 of 0 right, 2 questions left."


def test_long_texts_wrap_to_where_they_began_and_code_keeps_its_lines(take):
    question = "What does this print?\\n\\n    for i in range(2):\\n        print(i)\\n"
    day = (
        DAY
        + f"""
[[quiz]]
question = "{question}"
choices = [
  {{ text = "{"word " * 18}", right = true, why = "{"reason " * 12}" }},
  {{ text = "x[0] and [bold]", why = "no" }},
]
"""
    )
    assert take("a\n", day).splitlines()[2:] == [
        "1   What does this print?",
        "",
        "        for i in range(2):",
        "            print(i)",
        "    a  " + " ".join(["word"] * 14),
        "       " + " ".join(["word"] * 4),
        "    b  x[0] and [bold]",
        "    > a",
        "    Right. " + " ".join(["reason"] * 10),
        "    reason reason",
        "",
        "1 of 1 right.",
    ]


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("1\n2\n3\n", ["Start with week1/day4. Your track: quick.", "You know the ground already."]),
        (
            "1\n2\n4\n",
            [
                "To look at: flops, which week1/day1 teaches.",
                "Start with week1/day1. Your track: standard.",
                "An hour a day.",
            ],
        ),
    ],
)
def test_a_diagnostic_quiz_ends_with_what_to_look_at_and_where_to_start(take, typed, advice):
    printed = take(typed, DAY + DIAGNOSTIC).splitlines()
    assert printed[-len(advice) - 1 :] == ["", *advice]


def test_a_diagnostic_quiz_that_was_stopped_recommends_nothing(take):
    assert take("1\nq\n", DAY + DIAGNOSTIC).splitlines()[-1] == "1 of 1 right, 2 questions left."
