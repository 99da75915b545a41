"""An update brings what the course wrote, and loses nothing that the learner wrote: on random edits, with real git."""

import os
from collections import Counter
from random import Random

import pytest

from tools.course.versions.git import GitProblem, Repository
from tools.course.versions.update import update
from tools.tests.course.versions import edits
from tools.tests.course.versions.edits import LESSON, MOVED, NEW, SOLVED, STUB
from tools.tests.course.versions.under_git import commit, course_goes_on, course_writes, git, run, snapshot

CASES = 50


def move_lesson(root) -> None:
    git(root, "mv", LESSON, MOVED)
    git(root, "mv", "week1/day1/test_small.py", "week1/day1/test_tiny.py")


@pytest.mark.parametrize("seed", range(CASES))
def test_no_line_of_the_learners_is_lost_and_every_line_of_the_courses_arrives(root, seed):
    rng = Random(seed)
    theirs, mine = edits.course(rng), edits.learner(rng)
    moved, windows, committed, deleted = (rng.random() < chance for chance in (0.2, 0.2, 0.5, 0.1))
    others = {}

    def change():
        (root / LESSON).write_text(theirs.text)
        others.update(edits.around(root, rng, theirs))
        if moved:
            move_lesson(root)

    course_goes_on(root, change)
    written = mine.text.replace("\n", "\r\n" if windows else "\n").encode()
    (root / LESSON).write_bytes(written)
    if committed or deleted:
        commit(root, "my work")
    if deleted:
        (root / LESSON).unlink()

    before = snapshot(root)
    report = run(root)

    lesson = (root / (MOVED if moved else LESSON)).read_bytes().decode() if (theirs.wrote or not deleted) else ""
    lines = [line.rstrip("\r") for line in lesson.split("\n")]
    if not deleted:
        gaps = [line for spot, wrote in mine.wrote.items() for line in wrote if spot.startswith("body of")]
        assert [line for line in gaps if line not in lines] == []
        assert [line for wrote in mine.wrote.values() for line in wrote if line.strip() not in lesson] == []
        assert windows == ("\r\n" in lesson)
    for spot, wrote in theirs.wrote.items():
        if deleted or spot not in mine.wrote:
            assert [line for line in wrote if line.strip() not in lesson] == [], spot
        else:
            assert any(LESSON in note or MOVED in note for note in report.notes), spot
    for path, line in others.items():
        assert line in (root / path).read_text()
    assert moved <= (not (root / LESSON).exists())

    git(root, "reset", "--quiet", "--hard", report.before)  # as the screen says: everything is there again
    assert snapshot(root) == before


def test_the_random_edits_meet_what_they_are_meant_to_meet():
    """Of 50 cases enough have a gap filled, a conflict, a syntax error, and a function with a new signature."""
    seen = Counter()
    for seed in range(CASES):
        rng = Random(seed)
        theirs, mine = edits.course(rng), edits.learner(rng)
        both = mine.wrote.keys() & theirs.wrote.keys()
        filled = {spot.removeprefix("body of ") for spot in mine.wrote if spot.startswith("body of ")}
        seen["filled"] += bool(filled)
        seen["conflict in a gap"] += any(spot.startswith("body of ") for spot in both)
        seen["conflict elsewhere"] += any(not spot.startswith("body of ") for spot in both)
        seen["news above a filled gap"] += any(f"docstring of {name}" in theirs.wrote for name in filled)
        seen["signature of a filled gap"] += any(f"signature of {name}" in theirs.wrote for name in filled)
        seen["helper"] += any(spot.startswith("above") for spot in mine.wrote)
        try:
            compile(mine.text, "lesson", "exec")
        except SyntaxError:
            seen["syntax error"] += 1
    assert len(seen) == 7 and min(seen.values()) >= 5, seen


def test_nothing_new_changes_nothing_and_makes_no_commit(root):
    git(root, "switch", "--quiet", "--create", "learner/ada")
    (root / LESSON).write_text(SOLVED)
    before, head = snapshot(root), git(root, "rev-parse", "HEAD")
    assert not update(root).changed
    assert (snapshot(root), git(root, "rev-parse", "HEAD")) == (before, head)


def test_a_second_update_finds_nothing_new_and_a_third_only_what_is(root):
    course_writes(root, LESSON, NEW)
    (root / LESSON).write_text(SOLVED)
    assert run(root).changed and not run(root).changed
    git(root, "switch", "--quiet", "main")
    (root / LESSON).write_text(NEW.replace("A third of x.", "The third of x."))
    commit(root)
    git(root, "switch", "--quiet", "learner/ada")
    report = run(root)
    assert (report.joined, report.kept) == ([LESSON], False)
    assert (root / LESSON).read_text() == SOLVED.replace("Twice x.", "Two times x.").replace("A third", "The third")


def test_a_learner_without_any_work_simply_follows_the_course(root):
    course_writes(root, LESSON, NEW)
    report = run(root)
    assert git(root, "rev-parse", "HEAD").strip() == report.commit and not report.kept
    assert (root / LESSON).read_text() == NEW


def test_where_git_itself_writes_windows_ends_of_lines_it_goes_on_to(root):
    course_writes(root, LESSON, NEW)
    git(root, "config", "core.autocrlf", "true")
    (root / LESSON).write_bytes(SOLVED.replace("\n", "\r\n").encode())
    run(root)
    merged = SOLVED.replace("Twice x.", "Two times x.")
    assert (root / LESSON).read_bytes() == merged.replace("\n", "\r\n").encode()
    assert git(root, "show", f"HEAD:{LESSON}") == merged


def test_uncommitted_and_staged_work_is_kept_in_commits_of_its_own(root):
    course_writes(root, LESSON, NEW)
    (root / LESSON).write_text(SOLVED)
    git(root, "add", "--all")
    (root / LESSON).write_text(SOLVED.replace("2 * x", "x + x"))
    report = run(root)
    assert report.kept
    assert "return x + x" in git(root, "show", f"{report.before}:{LESSON}")
    assert "return 2 * x" in git(root, "show", f"{report.before}~1:{LESSON}")
    assert git(root, "log", "--format=%s", "--first-parent").splitlines() == [
        f"Update of the course: main, {report.commit[:10]}", "Work in progress, kept before an update of the course",
        "Staged work, kept before an update of the course", "the course"]  # fmt: skip


def test_an_edit_of_the_same_length_in_the_second_of_the_checkout_is_kept(root):
    course_writes(root, LESSON, NEW)
    git(root, "config", "core.trustctime", "false")  # a test can set a file's mtime only
    lesson, second = root / LESSON, (10**9, 10**9)
    os.utime(lesson, second)
    git(root, "update-index", "--refresh")
    lesson.write_text(STUB.replace("SIZE = 4", "SIZE = 8"))
    for file in (lesson, root / ".git/index"):
        os.utime(file, second)
    assert run(root).kept
    assert "SIZE = 8" in lesson.read_text()


@pytest.mark.parametrize("path", ["week1/day2/notes.md", "report.html"])
def test_a_file_of_the_learners_own_stays_where_the_course_brings_one_of_that_name(root, path):
    course_writes(root, path, "the course's\n")
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("report.html\n")
    (root / path).write_text("mine\n")
    report = run(root)
    assert (root / path).read_text() == "mine\n" and report.kept
    see = f"git show {report.commit[:10]}:{path}"
    assert report.notes == [f"{path}: you and the course each have one; yours stays. The course's: {see}"]


def test_files_of_the_learners_own_are_neither_touched_nor_committed(root):
    course_writes(root, LESSON, NEW)
    (root / "data.bin").write_bytes(b"\0\1")
    (root / ".course").mkdir()
    (root / ".course/progress.json").write_text("{}")
    update(root, "main")
    assert git(root, "status", "--porcelain") == "?? data.bin\n"
    assert (root / ".course/progress.json").read_text() == "{}"


def test_what_the_course_gave_up_goes_unless_the_learner_changed_it(root):
    course_goes_on(root, lambda: [(root / path).unlink() for path in ("tools.py", "week1/day2/small.py")])
    (root / "week1/day2/small.py").write_text(SOLVED)
    report = run(root)
    assert report.left == ["tools.py"] and not (root / "tools.py").exists()
    assert (root / "week1/day2/small.py").read_text() == SOLVED
    assert report.notes == ["week1/day2/small.py: the course has given it up; you changed it, so it stays."]


def test_a_day_that_moved_takes_the_learners_work_along(root):
    course_goes_on(root, lambda: git(root, "mv", "week1/day2", "week1/day3"))
    (root / "week1/day2/small.py").write_text(SOLVED)
    run(root)
    assert (root / "week1/day3/small.py").read_text() == SOLVED and not (root / "week1/day2").exists()


def test_a_new_day_that_looks_like_one_that_went_does_not_get_its_solutions(root):
    def change():
        git(root, "rm", "-r", "--quiet", "week1/day2")
        (root / "week2/day5").mkdir(parents=True)
        (root / "week2/day5/other.py").write_text(STUB)

    course_goes_on(root, change)
    (root / "week1/day2/small.py").write_text(SOLVED)
    run(root)
    assert (root / "week2/day5/other.py").read_text() == STUB
    assert (root / "week1/day2/small.py").read_text() == SOLVED


def test_permissions_links_and_files_that_are_no_text_arrive(root):
    def change():
        (root / "tools.py").chmod(0o755)
        (root / "link").symlink_to("tools.py")
        (root / "picture.png").write_bytes(bytes(range(256)))

    course_goes_on(root, change)
    (root / "tools.py").write_text("# a tool\n# mine\n")
    run(root)
    assert os.access(root / "tools.py", os.X_OK) and (root / "tools.py").read_text().endswith("# mine\n")
    assert (root / "link").readlink().as_posix() == "tools.py"
    assert (root / "picture.png").read_bytes() == bytes(range(256))


def test_names_with_spaces_and_letters_of_all_kinds_arrive(root):
    course_writes(root, "week1/Grüße an \t alle.md", "x\n")
    run(root)
    assert (root / "week1/Grüße an \t alle.md").read_text() == "x\n"


def test_a_folder_where_the_learner_has_a_file_is_refused(root):
    course_writes(root, "extra/readme.md", "x\n")
    (root / "extra").write_text("mine\n")
    commit(root)
    before = snapshot(root)
    with pytest.raises(GitProblem, match="has a folder extra, where you have a file"):
        update(root, "main")
    assert snapshot(root) == before


class Interrupted(BaseException):
    """Ctrl-C, a full disk or a crash, at a place of the test's choosing."""


STEPS = [("add", 1), ("commit-tree", 1), ("commit-tree", 2), ("hash-object", 1), ("update-index", 1), ("read-tree", 1),
         ("update-index", 2), ("read-tree", 2), ("update-ref", 1)]  # fmt: skip


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("command", "nth"), STEPS)
def test_wherever_an_update_stops_the_tree_the_index_and_the_branch_are_as_they_were(
    root, monkeypatch, command, nth, late
):
    course_goes_on(
        root,
        lambda: (
            (root / LESSON).write_text(NEW),
            move_lesson(root),
            (root / "tools.py").unlink(),
            (root / "new.py").write_text("new\n"),
        ),
    )
    (root / LESSON).write_text(SOLVED)
    git(root, "add", "--all")
    (root / LESSON).write_text(SOLVED.replace("2 * x", "x + x"))
    (root / "week1/day2/small.py").unlink()
    before = snapshot(root), git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")
    genuine, seen = Repository._run, Counter()

    def failing(repository, arguments, *rest):
        seen[arguments[0]] += 1
        stops = (arguments[0], seen[arguments[0]]) == (command, nth)
        if stops and not late:
            raise Interrupted
        done = genuine(repository, arguments, *rest)
        if stops and command != "update-ref":  # once that is done, so is the update
            raise Interrupted
        return done

    monkeypatch.setattr(Repository, "_run", failing)
    if late and command == "update-ref":
        update(root, "main")
        assert (root / MOVED).exists() and (root / "new.py").exists() and not (root / "tools.py").exists()
    else:
        with pytest.raises(Interrupted):
            update(root, "main")
        assert (snapshot(root), git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")) == before


def test_files_that_a_git_cut_short_left_behind_go_too(root, monkeypatch):
    """git writes the files first and its index last."""
    course_writes(root, "new.py", "new\n")
    before = snapshot(root)
    genuine = Repository._run

    def full_disk(repository, arguments, *rest):
        if arguments[:3] == ("read-tree", "-m", "-u"):
            (root / "new.py").write_text("ne")
            raise OSError("No space left on device")
        return genuine(repository, arguments, *rest)

    monkeypatch.setattr(Repository, "_run", full_disk)
    with pytest.raises(OSError):
        update(root, "main")
    assert snapshot(root) == before and git(root, "status", "--porcelain") == ""


def test_another_git_at_work_stops_the_update_before_anything_changes(root):
    course_writes(root, LESSON, NEW)
    (root / LESSON).write_text(SOLVED)
    before = snapshot(root)
    (root / ".git/index.lock").touch()
    with pytest.raises(GitProblem, match="index.lock"):
        update(root, "main")
    (root / ".git/index.lock").unlink()
    assert snapshot(root) == before and git(root, "status", "--porcelain") == f" M {LESSON}\n"


def test_a_conflict_outside_of_the_gaps_is_told_apart_from_one_in_another_file(root):
    def change():
        (root / LESSON).write_text(STUB.replace("SIZE = 4", "SIZE = 8"))
        (root / "tools.py").write_text("# the course's tool\n")

    course_goes_on(root, change)
    (root / LESSON).write_text(STUB.replace("SIZE = 4", "SIZE = 16"))
    (root / "tools.py").write_text("# my tool\n")
    report = run(root)
    see = f"The course's: git show {report.commit[:10]}"
    assert report.notes == [
        f"tools.py: you and the course changed the same lines; yours stayed. {see}:tools.py",
        f"{LESSON}: outside the gaps you and the course changed the same lines; yours stayed. {see}:{LESSON}",
    ]
    assert git(root, "show", f"{report.commit[:10]}:tools.py") == "# the course's tool\n"
