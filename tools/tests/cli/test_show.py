"""course show: the learner's own kernels as a picture, in the terminal and as a file."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tools import gpu
from tools.cli.__main__ import main
from tools.tests.cli.kernels import GAP, LESSON, write_day


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """run(lesson, *arguments) -> exit code, standard output, standard error of `course show week1/day1`."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv(gpu.SIMULATE, "1")  # which the command sets, so that it is put back

    def run(lesson: str = LESSON, *arguments: str, **day: str):
        write_day(tmp_path, lesson, **day)
        code = main(["show", "week1/day1", *arguments], tmp_path)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_each_function_is_drawn(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert (
        out
        == """\
add, 128 float32
add_kernel, 4 blocks

x, y loaded; out stored, 128 elements
by 1 block each
 0 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
64 CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD

block: A 0, B 1, C 2, D 3

line 13  out[i] = x[i] + y[i]
  load of x, load of y, store of out: 4 sectors each (warp 0 of block 0)
  |0-7|8-15|16-23|24-31|

turn, 32 x 8 float32
turn_kernel, 8 warps

x loaded; out stored, 32 x 8
by 1 warp each
a cell: 4 x 1 elements
 0 ABCDEFGH
 4 ABCDEFGH
 8 ABCDEFGH
12 ABCDEFGH
16 ABCDEFGH
20 ABCDEFGH
24 ABCDEFGH
28 ABCDEFGH

warp: A 0, B 1, C 2, D 3, E 4, F 5 ...

line 26  out[row, col] = x[row, col]
  load of x, store of out: 32 sectors each, 4 would do (warp 0)
  |0|1|2| ... |31|

"""
    )


def test_the_file_holds_all_pictures(run, tmp_path):
    file = tmp_path / "picture.svg"
    code, out, _ = run(LESSON, "--svg", str(file))
    assert code == 0 and out.endswith(f"The picture is in {file}; a browser shows it.\n")
    texts = [each.text for each in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")]
    assert {"add, 128 float32", "turn, 32 x 8 float32"} <= set(texts)


def test_a_gap_is_named_after_what_could_be_drawn(run):
    code, out, err = run(GAP)
    assert code == 0 and "add_kernel, 4 blocks" in out
    assert err.startswith("week1/day1/small.py, line 30: turn, of task 2, is not written yet.")


def test_a_day_without_a_kernel_says_so_and_writes_no_file(run, tmp_path):
    assert run(LESSON, bench="") == (
        2,
        "",
        "week1/day1 has no kernel for ./course show. To work it: ./course week1/day1\n",
    )
    without = LESSON.replace("    add_kernel[4, 32](x, y, out)\n", "")
    without = without.replace("    turn_kernel[(1, 1), (32, 8)](x, out)\n", "")
    code, out, err = run(without, "--svg", str(tmp_path / "picture.svg"))
    assert (code, out.count("It launches no kernel and moves nothing to a GPU")) == (2, 2)
    assert "was not written" in err and not (tmp_path / "picture.svg").exists()


def test_a_call_whose_kernels_cannot_be_watched_shows_what_it_moves(run, tmp_path):
    lesson = LESSON.replace("from tools.gpu import cuda", "from tools.gpu import cuda, cupy").replace(
        "    out = np.empty_like(x)\n    add_kernel[4, 32](x, y, out)\n    return out\n",
        "    return cupy.asnumpy(cupy.asarray(x) + cupy.asarray(y))\n",
    )
    file = tmp_path / "picture.svg"
    code, out, err = run(lesson, "--svg", str(file))
    assert (code, err) == (0, "")
    title, heading, _, *steps = out.splitlines()[:6]
    assert (title, heading) == (
        "add, 128 float32",
        "Bytes that cross between host and GPU, and that each kernel loads and stores",
    )
    assert [re.split(r"  +", step)[:3] for step in steps] == [
        ["host to GPU", "2 uploads", "1,024 bytes"],
        ["cupy_add", "1 launch", "1,536 bytes"],
        ["GPU to host", "1 download", "512 bytes"],
    ]
    assert "host to GPU" in file.read_text() and "turn_kernel" in file.read_text()
