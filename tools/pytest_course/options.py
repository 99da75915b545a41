"""The command line of the course: what is under test, and what it runs on."""

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tools import ROOT, gpu
from tools.course.content import answers, catalogue
from tools.course.content.day_file import UNIT_NAME
from tools.course.learner import journal
from tools.course.learner.current import current
from tools.course.learner.progress import Progress
from tools.pytest_course import lessons
from tools.pytest_course.advice import LOW_OCCUPANCY
from tools.pytest_course.run import KEY, Run, from_controller, is_worker, run_of, unit_name, week_parts
from tools.sim.triton import programs
from tools.worker.deadlines import hung

OPENS = {"explore_": "This opens it: marimo run {file}", "bench_": "This uses it: ./course bench {unit}"}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("course", "the course")
    group.addoption("--hint", action="store_true", help="show the next hint for the first task that fails")
    group.addoption("--all", action="store_true", dest="course_all", help="run everything, not only your current day")
    group.addoption("--sim", action="store_true", help="simulate, even on a machine with a GPU")
    group.addoption("--seed", type=int, metavar="N", help="repeat a run with the inputs of that seed")
    group.addoption("--remote", action="store_true", help="run lessons in a process of their own, as grading does")
    group.addoption(
        "--answers",
        metavar="WHAT",
        help="for authors: test reference, wrong:UNIT/NAME or a folder in place of your files (write it with '=')",
    )
    group.addoption("--red", action="store_true", help="for authors: every test must fail on the untouched stubs")
    parser.addini("course_limit", "seconds of its own that one test may take", default="10")
    parser.addini("course_compiler", "when the compiler's process begins: at once, or when asked", default="at once")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.option.sim:
        os.environ[gpu.SIMULATE] = "1"
    given = config.option.seed
    shared = from_controller(config, "course_seed") if is_worker(config) else random.randrange(10_000)
    run = Run(
        seed=shared if given is None else given,
        # pytest-xdist gives up after a few crashed processes: there, no lesson runs in them
        remote=config.option.remote or is_worker(config) or bool(getattr(config.option, "numprocesses", None)),
        red=config.option.red,
        hint=config.option.hint,
        answers=config.option.answers,
        selected=bool(config.option.keyword or config.option.markexpr or any("::" in arg for arg in config.args)),
    )
    config.stash[KEY] = run
    hung.clear()  # one process may make many runs
    os.environ[programs.SEED] = str(run.seed)  # decides the order of simulated programs, here and in workers
    try:
        _choose_current_day(config, run)
        run.only_lessons = asks_for_lessons(config)
        if run.only_lessons:
            os.environ.setdefault(LOW_OCCUPANCY, "0")  # before anybody imports Numba
        for name in _asked_units(config):
            run.unit(name)  # a missing day or a broken day.toml is better said now
        config.args = [_tests_of(config, run, arg) for arg in config.args]
        _find_answers(config, run)
    except (catalogue.BrokenCourseFile, catalogue.NoSuchUnit) as problem:
        raise pytest.UsageError(str(problem)) from None
    lessons.install(run, config)
    if config.pluginmanager.hasplugin("xdist") and config.option.dist == "load":
        config.option.dist = "loadfile"  # the tests of a day depend on each other's outcome: keep them together


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["course_seed"] = run_of(node.config).seed


def _asked_units(config: pytest.Config) -> list[str]:
    names = (unit_name(_path(config, arg)) for arg in config.args)
    return [name for name in names if name and (UNIT_NAME.fullmatch(name) or not (ROOT / name).exists())]


def _tests_of(config: pytest.Config, run: Run, arg: str) -> str:
    """The tests of a lesson, where that was named; every other argument as it is."""
    path = _path(config, arg)
    name = unit_name(path)
    if name is None or path.suffix != ".py" or not path.is_file() or path.name.startswith("test_"):
        return arg
    unit, shown = run.unit(name), path.relative_to(ROOT).as_posix()
    if path == unit.lesson:
        return str(unit.tests)
    opens = (words.format(file=shown, unit=name) for start, words in OPENS.items() if path.name.startswith(start))
    raise pytest.UsageError("\n".join([f"{shown} holds no tests; those of its unit: ./course {name}", *opens]))


def _path(config: pytest.Config, arg: str) -> Path:
    return (config.invocation_params.dir / arg.split("::")[0]).resolve()


def _is_bare(config: pytest.Config) -> bool:
    """Was it `pytest` at the root, with no path?"""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.course_all


def asks_for_lessons(config: pytest.Config) -> bool:
    """Is nothing but lessons to be run?"""
    return _is_bare(config) or (
        not config.option.course_all
        and bool(config.args)
        and all(week_parts(_path(config, arg)) for arg in config.args)
    )


def _choose_current_day(config: pytest.Config, run: Run) -> None:
    """Bare `pytest` works the learner's current day."""
    if _is_bare(config) and run.own_files:
        run.chosen = current(catalogue.units(), Progress.load(ROOT), journal.read(ROOT))
        if run.chosen:
            config.args = [str(run.chosen.folder)]


def _find_answers(config: pytest.Config, run: Run) -> None:
    """Turn --answers into a folder of lessons, or say why not."""
    if run.answers is None:
        return
    if run.answers.startswith("wrong:"):
        keep = tempfile.TemporaryDirectory(prefix="course-answers-")
        config.add_cleanup(keep.cleanup)
        try:
            run.answers_folder = answers.materialise(run.answers.removeprefix("wrong:"), Path(keep.name))
        except answers.BadAnswer as problem:
            raise pytest.UsageError(f"--answers={run.answers}: {problem}") from None
    else:
        folder = config.invocation_params.dir / run.answers
        run.answers_folder = folder if folder.is_dir() else ROOT / run.answers
        if not run.answers_folder.is_dir():
            raise pytest.UsageError(
                f"--answers={run.answers}: there is no such folder. Use reference, wrong:UNIT/NAME or a folder."
            )
    for name in _asked_units(config):
        lesson = run.unit(name).lesson.relative_to(ROOT)
        if not (run.answers_folder / lesson).is_file():
            raise pytest.UsageError(f"--answers={run.answers}: it has no {lesson.as_posix()}.")


def under_test(run: Run) -> str:
    """What a report's header says: whose answers, where they run, and the seed that repeats it."""
    whose = f"answers: {run.answers}" if run.answers else "the untouched stubs" if run.red else "your files"
    return f"{whose}{', in their own process' if run.remote else ''} | {where()} | seed {run.seed}"


def where() -> str:
    if card := gpu.card():
        return str(card)
    return "GPU simulated (--sim)" if gpu.installed_card() else "no GPU: simulated"


def pytest_report_header(config: pytest.Config) -> str:
    return f"course: {under_test(run_of(config))}"
