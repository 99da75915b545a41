"""course notebook [DAY]: the day as a notebook, for Jupyter and Colab."""

import os
from pathlib import Path

from tools.cli import chosen, complain, files
from tools.course.content.answers import BadAnswer
from tools.course.content.source import NotText
from tools.course.versions.remote import pushed_branch, web_address
from tools.notebook import build


def run(day: str | None, root: Path, solution: bool = False, output: Path | None = None) -> int:
    """Write the notebook; into `output`, where that is a folder. Returns the exit code: 2 where it cannot be made.

    Raises NotWritten where it cannot be written, NoSuchUnit, BrokenCourseFile.
    """
    unit, file = chosen(day, root), output or Path()
    if os.path.isdir(file):  # of any length
        file /= f"{unit.lesson.stem}{'_solution' * solution}.ipynb"
    try:
        files.write(file, build.dump(build.build(unit, solution)), root)
    except BadAnswer as error:
        return complain(f"{error}\nSolutions come with the authors' edition of the course.")
    except NotText as error:
        return complain(f"{unit.name}/{unit.lesson.name}, line {error.line}: {error.words}")
    except SyntaxError as error:
        return complain(
            f"{unit.name}/{unit.lesson.name}, line {error.lineno}: {error.msg}.\n"
            "A lesson that cannot be read makes no notebook; mend that line first."
        )
    print(f"{file}:\n{unit.name}, {unit.title}{', with the solution' * solution}.")
    print("Here:     open it in Jupyter, from a folder of the course.")
    if address := web_address(root):
        print(f"On Colab: upload it; its first cell fetches {address}")
        if pushed_branch(root) is None:
            print("          and the main branch there: git push -u origin HEAD would give it yours.")
    else:
        print(
            "On Colab: upload it, and write the address of your copy of the course into its\n"
            "          first cell; git has no remote called origin here that names one."
        )
    return 0
