"""The page: who, what was reached, the month at a glance, the largest changes, then a section for each unit.

The templates have the HTML, and every text in them is escaped; what is markup already says so by its type.
"""

from datetime import date
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tools.course.learner.portfolio import Portfolio
from tools.report import bars, glance, section, tables, texts, words

HERE = Path(__file__).parent
COURSE = "GPU programming in 28 days"


def page(portfolio: Portfolio, today: date) -> str:
    """The whole file."""
    style = Markup((HERE / "style.css").read_text(encoding="utf-8"))  # the course's own
    return _templates().get_template("page.html").render(portfolio=portfolio, today=today, course=COURSE, style=style)


@lru_cache
def _templates() -> Environment:
    """The templates, with the functions that they call."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "glance": glance,
        "section": section,
        "tables": tables,
        "texts": texts,
        "words": words,
        "draw": bars.draw,
        "before_and_after": bars.before_and_after,
    }
    return environment
