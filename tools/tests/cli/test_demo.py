"""course demo runs straight through in a pipe, waits for Enter in a terminal, and prints what was counted."""

import os
import subprocess
import sys

import pytest

from tools import ROOT, pip_install
from tools.cli import demo
from tools.cli.__main__ import main
from tools.course.content import demonstration
from tools.tests.course.miniature import write


def test_a_pipe_gets_all_of_it_with_the_figures_that_were_counted(tmp_path, capsys):
    write(tmp_path)
    assert main(["demo"], tmp_path) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert printed.err == "" and max(map(len, lines)) <= 80
    assert "  load   out[row, col] = 2 * image[row, col]     2,048   65,536     262,144" in lines
    assert "  load   out[row, col] = 2 * image[row, col]     2,048    8,192     262,144" in lines
    assert "  slow     524,288        4,194,304   12.5%" in lines
    assert "  fast     524,288          524,288  100.0%" in lines
    assert "    -    row, col = cuda.grid(2)" in lines and "    +    col, row = cuda.grid(2)" in lines
    assert lines[-1] == "Next: ./course week1/day1"


def test_a_kernel_that_counts_otherwise_is_printed_otherwise(tmp_path, capsys, monkeypatch):
    """No figure is written down: with both kernels fast, nothing of the slow one's is on the screen."""
    monkeypatch.setattr(demonstration, "slow", demonstration.fast)
    assert main(["demo"], tmp_path) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Counted: 32 sectors" not in printed and "65,536" not in printed and "4,194,304" not in printed
    assert "where the slow kernel asks for 1 sectors" in printed


def test_a_result_that_is_wrong_is_called_wrong(tmp_path, capsys, monkeypatch):
    genuine = demonstration.run
    spoilt = lambda kernel: demonstration.Measured(**{**vars(genuine(kernel)), "right": False})  # noqa: E731
    monkeypatch.setattr(demonstration, "run", spoilt)
    main(["demo"], tmp_path)
    assert "Its result is wrong." in capsys.readouterr().out


@pytest.fixture
def terminal(monkeypatch):
    """Somebody at a terminal, who answers each prompt with the next of `answers`."""
    answers, prompts = [], []

    def typed(prompt):
        prompts.append(prompt)
        if not answers:
            raise EOFError
        return answers.pop(0)

    monkeypatch.setattr(demo, "interactive", lambda: True)
    monkeypatch.setattr("builtins.input", typed)
    return answers, prompts


def test_in_a_terminal_enter_goes_on(tmp_path, capsys, terminal):
    answers, prompts = terminal
    answers += ["7", "", ""]
    assert main(["demo"], tmp_path) == 0
    assert prompts == ["[your guess, then Enter; q stops] ", "[Enter shows the fix; q stops] ",
                       "[Enter goes on; q stops] "]  # fmt: skip
    printed = capsys.readouterr().out
    assert "You said 7. Counted: 32 sectors" in printed and "bytes asked for" in printed


@pytest.mark.parametrize("typed", [["q"], []], ids=["q", "the end of the input"])
def test_q_or_the_end_of_the_input_stops_before_the_answer_is_given_away(tmp_path, capsys, terminal, typed):
    terminal[0].extend(typed)
    assert main(["demo"], tmp_path) == 0
    printed = capsys.readouterr().out
    assert "Counted:" not in printed and printed.endswith("\nNext: ./course status\n")


def test_an_interrupt_stops_too(tmp_path, capsys, terminal, monkeypatch):
    def interrupt(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    assert main(["demo"], tmp_path) == 0


def test_without_numpy_one_line_says_so():
    script = ("import sys; sys.modules['numpy'] = None; from pathlib import Path; from tools.cli import demo; "
              "print(demo.run(Path('.')))")  # fmt: skip
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("2\n", f"The demo needs numpy. To install it: {pip_install('numpy')}\n")


def test_the_demo_leaves_nothing_behind(tmp_path, capsys):
    assert demo.run(tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def test_its_tables_fit_a_narrow_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["demo"], tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("    ")) <= 40  # code keeps its lines
    assert "       2,048   65,536     262,144" in lines
