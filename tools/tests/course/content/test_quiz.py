"""An answer is right, wrong for a reason, or no answer; a diagnostic quiz says where to go."""

from random import Random

import pytest

from tools.course.content import quiz
from tools.course.content.day_file import Choice, Question
from tools.course.content.quiz import NotAnAnswer, Verdict, judge, letters, missed_topics, recommendation
from tools.tests.course.miniature import DAY, DIAGNOSTIC, QUIZ, make

LANES = Question("How many lanes has a warp?", number=32, why="A warp is 32 threads.")
HALF = Question("Occupancy?", number=0.5, why="Half of the warps.")
HUGE = Question("How many?", number=2**60 + 1, why="Counted.")
ARMS = Question(
    "A warp diverges. What happens?",
    choices=(Choice("an error", "Divergence is legal."), Choice("both arms run", "One after the other.", right=True)),
)


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        (LANES, "32", True),
        (LANES, "2**5", True),
        (LANES, "64 / 2", True),
        (LANES, "1,032", False),
        (LANES, "32%", True),  # of a hundred,
        (HALF, "50%", True),  # or of one
        (HALF, "50 %", True),
        (HALF, "1/2", True),
        (HALF, "51%", False),
        (LANES, " 3_2 ", True),
        (LANES, "32.0", True),
        (LANES, "3.2e1", True),
        (LANES, "31", False),
        (LANES, "-32", False),
        (LANES, "32.0001", False),
        (HALF, "0.5", True),
        (HALF, ".5", True),
        (HALF, "0.50000001", False),
        (HUGE, str(2**60 + 1), True),
        (HUGE, str(2**60), False),  # the same float64
    ],
)
def test_a_number_must_be_equal_however_it_is_written(question, answer, right):
    verdict = judge(question, answer)
    assert (verdict.right, verdict.taken) == (right, answer.strip())
    assert verdict.why == (question.why if right else f"The answer is {question.number:,}. {question.why}")


@pytest.mark.parametrize(
    "answer, right",
    [
        ("0.78", True),
        ("0.781", True),
        ("0.8", False),
        ("0.79", False),
        ("0.78126", False),
        ("0.078", False),
        ("1", False),
        ("0.7 + 0.08", False),
    ],
)
def test_a_number_may_be_rounded_to_two_digits_or_more(answer, right):
    assert judge(Question("How likely?", number=0.78125, why="2 of 256 ways."), answer).right == right


@pytest.mark.parametrize("answer", ["", "thirty", "1,02", "1 024", "nan", "inf", "-inf", "3 2", "a", "%", "1/0"])
def test_what_is_no_number_is_no_answer(answer):
    with pytest.raises(NotAnAnswer, match=r"^Answer with a number, such as 12, 98_432, 2\*\*20, 1/3 or 0\.5$"):
        judge(LANES, answer)


def test_choices_are_lettered_in_the_order_written():
    assert letters(ARMS) == {"a": ARMS.choices[0], "b": ARMS.choices[1]}
    assert letters(LANES) == {}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("a", Verdict(False, "Divergence is legal.", "Right is b: both arms run\nOne after the other.")),
        ("b", Verdict(True, "One after the other.")),
        (" B ", Verdict(True, "One after the other.")),
    ],
)
def test_a_choice_has_a_reason_of_its_own(answer, verdict):
    assert judge(ARMS, answer) == verdict


@pytest.mark.parametrize("answer", ["", "c", "ab", "1", "both arms run"])
def test_what_is_none_of_the_letters_is_no_answer(answer):
    with pytest.raises(NotAnAnswer, match=r"^Answer with one letter, a to b$"):
        judge(ARMS, answer)


@pytest.mark.parametrize(
    ("score", "start"), [(0, "week1/day0"), (1, "week1/day0"), (2, "week1/day1"), (3, "week1/day4")]
)
def test_the_highest_bar_that_the_score_clears_decides_the_start(tmp_path, score, start):
    unit = make(tmp_path, day=DAY + DIAGNOSTIC)
    verdicts = [Verdict(number < score, "") for number in range(3)]
    assert recommendation(unit, verdicts, {"week1/day0", "week1/day1", "week1/day4"}).start == start


def test_a_start_that_does_not_exist_yet_is_not_recommended(tmp_path):
    unit, right = make(tmp_path, day=DAY + DIAGNOSTIC), Verdict(True, "")
    assert recommendation(unit, [right] * 3, {"week1/day0", "week1/day1"}).start == "week1/day1"
    assert recommendation(unit, [right] * 3, set()) is None


def test_a_unit_that_recommends_nothing_has_no_recommendation(tmp_path):
    assert recommendation(make(tmp_path), [], {"week1/day1"}) is None


def test_missed_topics_are_named_once_with_the_day_that_teaches_them(tmp_path):
    unit = make(tmp_path, day=DAY + DIAGNOSTIC)
    wrong, right = Verdict(False, ""), Verdict(True, "")
    assert missed_topics(unit, [wrong, wrong, right]) == {"strides": "week1/day0"}
    assert missed_topics(unit, [right, right, wrong]) == {"flops": "week1/day1"}
    assert missed_topics(unit, [right]) == {}


# Questions of several units ---------------------------------------------------------------------


def asks(*texts: str) -> str:
    """A day.toml whose quiz asks these."""
    return DAY + "".join(f'\n[[quiz]]\nquestion = "{text}"\nnumber = 1\nwhy = "Because."\n' for text in texts)


@pytest.fixture
def three_days(tmp_path):
    return [make(tmp_path, f"week1/day{n}", day=asks(*(f"{n}{letter}" for letter in "abcd"))) for n in (1, 2, 3)]


def texts(asked) -> list[str]:
    return [one.question.question for one in asked]


@pytest.mark.parametrize("seed", range(5))
def test_a_review_has_the_days_questions_the_missed_ones_and_some_of_earlier_days(three_days, seed):
    *earlier, day = three_days
    mixed = texts(quiz.review(day, earlier, ["2c", "1a", "gone", "3b"], Random(seed)))
    assert len(mixed) == len(set(mixed)) == 4 + 5
    assert {"3a", "3b", "3c", "3d", "2c", "1a"} <= set(mixed)


def test_a_review_takes_the_newest_of_many_missed_questions(three_days):
    *earlier, day = three_days
    missed = ["1a", "1b", "1c", "2a", "2b", "2c"]
    assert set(texts(quiz.review(day, earlier, missed, Random(1)))) == {"3a", "3b", "3c", "3d", *missed[:5]}


def test_a_review_mixes(three_days):
    *earlier, day = three_days
    orders = {tuple(text[0] for text in texts(quiz.review(day, earlier, [], Random(seed)))) for seed in range(10)}
    assert len(orders) > 5


def test_a_review_with_nothing_before_it_is_the_days_quiz(three_days):
    assert sorted(texts(quiz.review(three_days[0], [], ["2a"], Random(1)))) == ["1a", "1b", "1c", "1d"]


@pytest.mark.parametrize("seed", range(5))
def test_an_interview_asks_ten_different_questions_spread_over_the_units(three_days, seed):
    asked = texts(quiz.interview(three_days, Random(seed)))
    assert len(asked) == len(set(asked)) == 10
    assert sorted(sum(text[0] == day for text in asked) for day in "123") == [3, 3, 4]
    assert texts(quiz.interview([], Random(seed))) == []


def test_an_interview_with_few_units_asks_what_there_is(three_days):
    assert sorted(texts(quiz.interview(three_days[:1], Random(1)))) == ["1a", "1b", "1c", "1d"]


def test_choices_change_their_places_with_their_reasons(tmp_path):
    unit = make(tmp_path, day=DAY + QUIZ)
    orders = {quiz.interview([unit], Random(seed))[n].question.choices for seed in range(10) for n in (0, 1)} - {()}
    assert len(orders) == 2
    assert all(sorted(choice.text for choice in order) == ["an error", "both arms run"] for order in orders)
    assert all(choice.right == (choice.why == "One after the other.") for order in orders for choice in order)


def test_the_score_by_topic_begins_with_the_weakest(tmp_path):
    other = make(tmp_path, "week1/day2", day=asks("x", "y"))
    asked = [*quiz.all_of(make(tmp_path, day=DAY + DIAGNOSTIC)), *quiz.all_of(other)]
    verdicts = [Verdict(right, "") for right in (True, False, True, False, False)]
    assert list(quiz.by_topic(asked, verdicts).items()) == [("Small", (0, 2)), ("strides", (1, 2)), ("flops", (1, 1))]
