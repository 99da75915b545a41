"""The learner's notes and code as HTML. Both are untrusted: nothing in them becomes markup, or is fetched."""

from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.util import ClassNotFound

LOWER = 3  # a note's first heading becomes <h4>: the page has the larger ones


def notes(markdown: str) -> Markup:
    """Markdown as HTML: its own HTML stands there as text, a picture becomes a link, no script can be a link."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("image", _picture)
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + LOWER, 6)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer nofollow")
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _picture(self: Any, tokens: Sequence[Token], number: int, options: OptionsDict, env: EnvType) -> str:
    """A picture would be fetched; its address as a link is not."""
    token = tokens[number]
    address, words = str(token.attrs.get("src", "")), self.renderInlineAsText(token.children or [], options, env)
    shown = escape(words or address)
    if not address.startswith(("https://", "http://")):
        return f"[{shown}]"
    return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow">{shown}</a>'


def code(source: str) -> Markup:
    """Python in colours, which classes of the style sheet give."""
    try:
        inside = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
    except ClassNotFound:
        inside = escape(source)
    return Markup(f'<pre class="code" tabindex="0"><code>{inside}</code></pre>')
