"""Widgets of a notebook: questions with a reason for every choice, and pictures with sliders.

With ipywidgets both react at once. Without it a question unfolds its reasons, and a picture stands still.
"""

import base64
from collections.abc import Callable, Sequence
from html import escape
from types import ModuleType
from typing import Any

from tools import pip_install
from tools.course.content.day_file import Choice, Question
from tools.course.content.quiz import NotAnAnswer, Verdict, judge, letters

PLAIN = f"Sliders need ipywidgets. To install it: {pip_install('ipywidgets')}"


def ask(
    question: str, choices: Sequence[tuple[str, bool, str]] = (), number: float | None = None, why: str = ""
) -> None:
    """Show a question: choose from (text, right, why), or give a number."""
    widgets = _widgets()
    asked = Question(question, number, why, tuple(Choice(text, reason, right) for text, right, reason in choices))
    if widgets is None:
        _display(_folded(asked))
    else:
        _display_widget(_radio(widgets, asked) if choices else _field(widgets, asked))


def sliders(picture: Callable[..., str], **ranges: tuple[int, int, int] | list[int]) -> None:
    """Show picture(...), an SVG, with a slider for each (at first, least, most) and a choice for each list."""
    widgets = _widgets()
    at_first = {name: known[0] for name, known in ranges.items()}
    if widgets is None:
        _display(image(picture(**at_first)) + f"<p>{PLAIN}</p>")
        return
    controls = {name: _control(widgets, name, known) for name, known in ranges.items()}
    widgets.interact(lambda **values: _display(image(picture(**values))), **controls)


def image(svg: str) -> str:
    """An SVG as an image element: its style stays inside it."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img style="max-width: 100%" alt="" src="data:image/svg+xml;base64,{data}">'


def verdict(said: Verdict) -> str:
    """The words on an answer, as HTML; the right one always, with its reason."""
    word, _, reason = str(said).partition(" ")
    colour = "#1a7f37" if said.right else "#cf222e"
    return (
        f'<p style="max-width: 44em"><b style="color: {colour}">{word}</b> '
        f"{'<br>'.join(map(escape, reason.splitlines()))}</p>"
    )


def _widgets() -> ModuleType | None:
    try:
        import ipywidgets
    except ImportError:
        return None
    return ipywidgets


def _display(html: str) -> None:
    from IPython.display import HTML, display

    display(HTML(html))


def _display_widget(widget: Any) -> None:
    from IPython.display import display

    display(widget)


def _control(widgets: ModuleType, name: str, known: tuple[int, int, int] | list[int]) -> Any:
    if isinstance(known, list):
        return widgets.Dropdown(options=known, value=known[0], description=name)
    value, least, most = known
    return widgets.IntSlider(value=value, min=least, max=most, description=name)


# Questions ----------------------------------------------------------------------------------------


def _heading(question: str) -> str:
    return f'<p style="max-width: 44em"><b>{escape(question)}</b></p>'


def _radio(widgets: ModuleType, asked: Question) -> Any:
    """Radio buttons, none chosen, and below them what is said of the one that is."""
    options = [(f"{letter}  {choice.text}", letter) for letter, choice in letters(asked).items()]
    buttons = widgets.RadioButtons(options=options, value=None, layout=widgets.Layout(width="auto"))
    return _judged(widgets, asked, buttons)


def _field(widgets: ModuleType, asked: Question) -> Any:
    """A field for a number, judged when Enter is pressed or the field is left."""
    return _judged(widgets, asked, widgets.Text(placeholder="a number, then Enter", continuous_update=False))


def _judged(widgets: ModuleType, asked: Question, control: Any) -> Any:
    """The question, what answers it, and what is said of the answer."""
    reason = widgets.HTML()

    def given(change: dict[str, Any]) -> None:
        try:
            reason.value = verdict(judge(asked, change["new"]))
        except NotAnAnswer as problem:
            reason.value = f"<p>{escape(str(problem))}.</p>"

    control.observe(given, "value")
    return widgets.VBox([widgets.HTML(_heading(asked.question)), control, reason])


def _folded(asked: Question) -> str:
    """The question as HTML alone: each choice unfolds what is said of it."""
    folds = [(f"{letter}  {choice.text}", verdict(judge(asked, letter))) for letter, choice in letters(asked).items()]
    folds = folds or [("The answer", f"<p>{escape(f'{asked.number:,}. {asked.why}')}</p>")]
    return _heading(asked.question) + "".join(
        f"<details><summary>{escape(text)}</summary>{said}</details>" for text, said in folds
    )
