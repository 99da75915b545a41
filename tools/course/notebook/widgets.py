"""What answers in a notebook: questions with a reason for every choice, and pictures with sliders.

With ipywidgets both react at once. Without it a question unfolds its reasons, and a picture stands still.
"""

import base64
from collections.abc import Callable, Sequence
from html import escape

NO_NUMBER = "<p>Answer with a number, such as 12 or 0.5.</p>"
PLAIN = "Sliders need ipywidgets: pip install ipywidgets"


def ask(question: str, choices: Sequence[tuple[str, bool, str]] = (), number: float | None = None,
        why: str = "") -> None:
    """Show a question: choose from (text, right, why), or give a number."""
    widgets = _widgets()
    if widgets is None:
        _display(_folded(question, choices, number, why))
    else:
        _display_widget(_radio(widgets, question, choices) if choices else _field(widgets, question, number, why))


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


def verdict(right: bool, why: str) -> str:
    """The answer to an answer, as HTML."""
    word, colour = ("Right.", "#1a7f37") if right else ("No.", "#cf222e")
    return f'<p style="max-width: 44em"><b style="color: {colour}">{word}</b> {escape(why)}</p>'


def _widgets():
    try:
        import ipywidgets
    except ImportError:
        return None
    return ipywidgets


def _display(html: str) -> None:
    from IPython.display import HTML, display

    display(HTML(html))


def _display_widget(widget) -> None:
    from IPython.display import display

    display(widget)


def _control(widgets, name: str, known: tuple[int, int, int] | list[int]):
    if isinstance(known, list):
        return widgets.Dropdown(options=known, value=known[0], description=name)
    value, least, most = known
    return widgets.IntSlider(value=value, min=least, max=most, description=name)


# Questions ----------------------------------------------------------------------------------------


def _heading(question: str) -> str:
    return f'<p style="max-width: 44em"><b>{escape(question)}</b></p>'


def _radio(widgets, question: str, choices: Sequence[tuple[str, bool, str]]):
    """Radio buttons, none chosen, and below them the reason for the one that is."""
    texts = [text for text, _, _ in choices]
    buttons = widgets.RadioButtons(options=list(zip(texts, range(len(texts)))), value=None,
                                   layout=widgets.Layout(width="auto"))
    reason = widgets.HTML()

    def chosen(change) -> None:
        _, right, why = choices[change["new"]]
        reason.value = verdict(right, why)

    buttons.observe(chosen, "value")
    return widgets.VBox([widgets.HTML(_heading(question)), buttons, reason])


def _field(widgets, question: str, number: float, why: str):
    """A field for a number, judged when Enter is pressed or the field is left."""
    field = widgets.Text(placeholder="a number, then Enter", continuous_update=False)
    reason = widgets.HTML()

    def given(change) -> None:
        value = _value(change["new"])
        reason.value = NO_NUMBER if value is None else verdict(value == number, why)

    field.observe(given, "value")
    return widgets.VBox([widgets.HTML(_heading(question)), field, reason])


def _value(answer: str) -> float | None:
    for kind in (int, float):  # int first: it is exact at any size
        try:
            return kind(answer.strip())
        except ValueError:
            continue
    return None


def _folded(question: str, choices: Sequence[tuple[str, bool, str]], number: float | None, why: str) -> str:
    """The question as HTML alone: each choice unfolds its reason."""
    folds = [(text, right, because) for text, right, because in choices] or [("The answer", None, f"{number}. {why}")]
    shown = "".join(
        f"<details><summary>{escape(text)}</summary>"
        + (f"<p>{escape(because)}</p>" if right is None else verdict(right, because)) + "</details>"
        for text, right, because in folds)
    return _heading(question) + shown
