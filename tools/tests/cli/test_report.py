"""The learner's page: honest, of one piece, safe to open, and readable in a real browser."""

import re
import subprocess
from html.parser import HTMLParser

import pytest

from tools.cli import report
from tools.cli.__main__ import main
from tools.tests import browser
from tools.tests.browser import Browser
from tools.tests.course import month
from tools.tests.course.versions import under_git


class Text(HTMLParser):
    """What a reader sees, and every attribute that could fetch or run something."""

    def __init__(self, page: str):
        super().__init__()
        self.parts, self.tags, self.links = [], [], []
        self.feed(page.partition("<body>")[2])

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [
            (tag, name, value)
            for name, value in attributes
            if name in ("src", "href", "srcset", "style", "action") or name.startswith("on")
        ]

    def handle_data(self, data):
        self.parts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())


def made(root) -> str:
    file = root / "page.html"
    assert report.run(root, file) == 0
    return file.read_text(encoding="utf-8")


def shown(root) -> str:
    return Text(made(root)).text


@pytest.fixture
def root(tmp_path):
    return month.begin(tmp_path, "week1/day1", "week1/day2")


# What it says -------------------------------------------------------------------------------------


def test_an_empty_month_gives_an_honest_page(root, capsys):
    text = shown(root)
    assert text.startswith("Ada GPU programming in 28 days")
    assert "Nothing is recorded yet: no day was worked, and nothing was counted or timed." in text
    assert "days done" not in text and "Before and after Before" not in text and "hint" not in text
    assert (
        capsys.readouterr()
        .out.splitlines()[0]
        .endswith("page.html: 0 units with something to show, one file without outside parts.")
    )


def test_what_changed_is_said_in_words_and_figures(tmp_path):
    text = shown(month.whole(tmp_path))
    assert "8 times fewer sectors double (size 64)" in text
    assert "first, 2 Nov 2026 131,072" in text and "last, 3 Nov 2026 16,384" in text
    assert "7.8 times as fast double (262144 float32, Test Card 1)" in text
    assert "3.12 ms" in text and "400 µs" in text


def test_what_became_worse_is_said_as_plainly(root):
    month.count(root, 1, sectors=10, conflicts=0)
    month.count(root, 2, sectors=30, conflicts=4)
    text = shown(root)
    assert "3 times more sectors" in text
    assert "conflicts, where there were none" in text


def test_the_summary_counts_days_hours_hints_and_cards(tmp_path):
    text = shown(month.whole(tmp_path))
    assert "days done 2 of 2 1 simulated, 1 confirmed on Test Card 1 (9 November 2026)" in text
    assert "to the first green kernel 58 minutes" in text
    assert "hint taken 1" in text


def test_a_day_on_simulators_says_so_and_a_confirmed_one_names_card_and_date(tmp_path):
    text = shown(month.whole(tmp_path))
    assert "confirmed on Test Card 1, 9 November 2026" in text
    assert "Passed on simulators. Its tests on a GPU have not run yet." in text
    assert "Time is not simulated" in text


def test_a_day_in_which_nothing_needs_a_gpu_is_passed_and_not_simulated(root):
    month.passed(root, needs_gpu=False)
    text = shown(root)
    assert "days done 1 of 2 1 passed" in text
    assert "have not run yet" not in text


def test_times_of_a_simulator_are_called_that_and_never_drawn(root):
    month.bench(root, 1, 3.0, simulated=True)
    assert "these are the times of a simulator, which say nothing of a GPU" in shown(root)
    assert '<figure class="times">' not in made(root)


def test_what_counted_is_said(root):
    month.add(root, "count", 1, function="double", size=64, shape="64 x 64", simulated=False, totals={"sectors": 7})
    assert "double 64 x 64, by a profiler" in shown(root) and "by a simulator" not in shown(root)
    month.add(root, "count", 2, function="double", size=64, shape="64 x 64", simulated=True, totals={"sectors": 7})
    assert "Counted by a simulator: exact, the same on every machine. double 64 x 64" in shown(root)


@pytest.mark.parametrize("machine, panels", [({"card": month.CARD}, 2), ({"cpu": "Test CPU 1"}, 1)])
def test_the_plot_over_sizes_is_drawn_and_on_a_gpu_the_roofline(root, machine, panels):
    for size in (2**10, 2**14, 2**18):
        rows = [{"name": "yours", "seconds": 1e-3, "gb_s": 1.0, "gflop_s": size / 2**10, "share_of_ceiling": 0.5}]
        month.bench(root, 1, 1.0, size=size, rows=rows, machine=machine)
    assert made(root).count("over sizes</text>") == 1
    assert made(root).count("roofline</text>") == panels - 1


def measured(root, **ceiling):
    """Benchmarks on a CPU at 1/8 flop per byte, whatever the size; the journal holds these rates of the machine."""
    for size in (2**10, 2**14):
        month.bench(root, 1, 1e-3, size=size, machine={"cpu": "Test CPU 1"}, ceiling=ceiling)


def test_the_roofline_is_that_of_the_rates_in_the_journal(root):
    measured(root, bandwidth=1e10, peak=1e11)
    page = made(root)
    assert page.count("double: roofline</text>") == page.count("measured roof</text>") == 1
    dashed = re.findall(r'<polyline points="([^"]+)"[^>]* stroke-dasharray', page.partition("roofline</text>")[2])
    (left, low), (ridge, peak), (right, same) = (map(float, point.split(",")) for point in dashed[0].split())
    assert left < ridge < right and low > peak == same  # it rises to the ridge and is flat from there on


@pytest.mark.parametrize("ceiling", [{}, {"bandwidth": 1e10}, {"bandwidth": "x", "peak": 0}, {"bandwidth": 1e299}])
def test_without_both_rates_there_is_no_roofline_of_a_cpu(root, ceiling):
    measured(root, **ceiling)
    page = made(root)
    assert "over sizes</text>" in page and "roofline</text>" not in page


def test_a_single_size_is_no_plot(root):
    month.bench(root, 1, 1.0)
    assert "over sizes</text>" not in made(root)


def test_code_that_changed_after_it_was_timed_is_called_that(root):
    month.bench(root, 1, 3.0, lesson="another file")
    assert "The code below was changed after this was timed." in shown(root)


def test_traffic_that_was_counted_stands_beside_the_least(tmp_path):
    assert "halve 64 float32 4,096 65,536 512" in shown(month.whole(tmp_path))


def test_rivals_far_behind_are_named_and_not_drawn(tmp_path):
    text = shown(month.whole(tmp_path))
    assert "Not drawn: NumPy took 100 times as long." in text
    assert "NumPy 40 ms" in text  # in the table


def test_a_page_without_a_name_says_how_to_get_one(tmp_path, capsys):
    under_git.begin(tmp_path, "week1/day1")
    assert shown(tmp_path).startswith("GPU programming in 28 days A course")
    assert "./course start NAME" in capsys.readouterr().out


def test_bars_say_that_shorter_is_better(tmp_path):
    text = shown(month.whole(tmp_path))
    assert "double (size 64); shorter is better" in text
    assert "Time of one call: shorter is better. Not drawn" in text


# Safe to open -------------------------------------------------------------------------------------


def test_nothing_in_the_page_fetches_or_runs_anything(tmp_path):
    page = Text(made(month.whole(tmp_path)))
    assert not {"script", "img", "iframe", "link", "object", "embed", "form", "base", "style"} & set(page.tags)
    assert {name for _, name, _ in page.links} == {"href"}
    outside = {value for _, _, value in page.links if not value.startswith("#")}
    assert outside == {"https://example.org/tracker.png", "https://example.org/page"}  # links, which wait for a click


def test_notes_are_markdown_without_their_html(tmp_path):
    page = made(month.whole(tmp_path))
    assert "<em>mask</em> is <strong>not</strong> optional. &lt;script&gt;" in page
    assert "<h4>What I learned</h4>" in page
    assert "mine = 1 &lt; 2" in page
    assert "[bad](javascript:alert(1))" in Text(page).text


HOSTILE = "<img src=x onerror=alert(1)>\"'&"


def test_whatever_the_learner_typed_is_text(root):
    under_git.git(root, "branch", "--quiet", "--move", "learner/<b>Ada'\"&")
    month.solve(root, lesson=month.SOLVED.replace("return x + x", f"return {HOSTILE!r}"))
    month.passed(root, card=HOSTILE)
    month.count(root, 1, HOSTILE, **{HOSTILE: 3})
    month.bench(
        root,
        2,
        1e-3,
        size=2**10,
        card=HOSTILE,
        rivals={HOSTILE: 1e-3, HOSTILE + "2": 1.0},
        **{"function": HOSTILE, "shape": HOSTILE, "class": HOSTILE},
    )
    month.bench(root, 3, 1e-3, size=2**12, card=HOSTILE, rivals={HOSTILE: 1e-3}, **{"function": HOSTILE})
    month.add(root, "bench", 4, function=HOSTILE, shape=HOSTILE, rows=[], asked=1, in_sectors=1, least=1)
    page = Text(made(root))
    assert "img" not in page.tags and "<b>Ada" in page.text
    assert page.text.count(HOSTILE) >= 8
    assert not [link for link in page.links if link[1] != "href"]


def test_facts_of_another_form_make_no_broken_page(root):
    for value in (None, "x", [1], {"a": 1}, 10**400):
        month.add(
            root,
            "bench",
            1,
            function="double",
            shape="64",
            size=value,
            rows=[{"name": "yours", "seconds": 1e-3, "low": value, "share_of_ceiling": value, "lines": value}],
            machine=value,
            lesson=value,
        )
        month.add(root, "count", 2, function="double", size=value, totals={"sectors": value, "deep": {"lines": value}})
    assert "double beside its rivals" in shown(root)


# Writing and publishing ---------------------------------------------------------------------------


def test_a_broken_day_is_said_and_no_page_is_written(root, capsys):
    (root / "week1/day2/day.toml").write_text("title = ", encoding="utf-8")
    assert main(["report", "--output", str(root / "page.html")], root) == 2
    assert capsys.readouterr().err.startswith("week1/day2/day.toml:1: not valid TOML")
    assert not (root / "page.html").exists()


def test_publish_prints_commands_that_work_and_runs_none_of_them(tmp_path, capsys):
    root, there = month.begin(tmp_path / "course", "week1/day1"), tmp_path / "there"
    under_git.git(root, "init", "--quiet", "--bare", str(there))
    under_git.git(root, "remote", "add", "origin", str(there))
    page = tmp_path / "my page.html"
    assert report.run(root, page, publish=True) == 0
    printed = capsys.readouterr().out
    assert under_git.git(there, "branch", "--list") == ""
    commands = [line.strip() for line in printed.splitlines() if re.match(r"   (\w+=\$\(|git push)", line)]
    assert len(commands) == 4
    assert all(len(line) <= 80 for line in printed.splitlines() if str(page) not in line)
    before = under_git.git(root, "status", "--porcelain", "--branch")
    for _ in range(2):  # the second time brings it up to date
        subprocess.run(
            ["sh", "-ec", "\n".join(commands)],
            cwd=root,
            check=True,
            capture_output=True,
            env={**under_git.os.environ, **under_git.IDENTITY, **under_git.ALONE},
        )
    assert under_git.git(there, "show", "gh-pages:index.html") == page.read_text(encoding="utf-8")
    assert under_git.git(there, "ls-tree", "--name-only", "gh-pages") == "index.html\n"
    assert under_git.git(root, "status", "--porcelain", "--branch") == before


def test_publish_names_the_learners_own_page_and_never_a_password(root, capsys):
    under_git.git(root, "remote", "add", "origin", "https://ada:secret@github.com/Ada/gpu-month.git")
    report.run(root, root / "page.html", publish=True)
    printed = capsys.readouterr().out
    assert "https://ada.github.io/gpu-month/" in printed
    assert "https://github.com/Ada/gpu-month/settings/pages" in printed
    assert "secret" not in printed


# In a browser -------------------------------------------------------------------------------------

needs_browser = pytest.mark.skipif(browser.EXECUTABLE is None, reason=browser.MISSING)

# Elements with text of their own whose letters differ too little from what is behind them (WCAG 2: 4.5 to 1).
FAINT = """(() => {
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                       return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const parse = s => s.match(/[\\d.]+/g).map(Number);
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
                        if (c.length < 4 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
  const faint = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.tagName === 'title') continue;
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    const [a, b] = [light(parse(svg ? style.fill : style.color).slice(0, 3)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const name = e.tagName + '.' + e.className;
    if (ratio < 4.5) faint.push([name, e.textContent.slice(0, 30), ratio.toFixed(1)].join(' '));
  }
  return faint;
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    root = month.whole(tmp_path_factory.mktemp("course"))
    made(root)
    return root / "page.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it_without_a_request_or_a_complaint(page, chromium, width, dark):
    chromium.open(page, width, dark)
    assert chromium.requests == [page.as_uri()]
    assert chromium.complaints == []
    assert chromium.value("document.title") == "Ada: GPU programming in 28 days"
    assert chromium.value("document.documentElement.scrollWidth") == width
    assert chromium.value("document.body.innerText").count("8 times fewer sectors") >= 1
    assert chromium.value(FAINT) == []


CUT = "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth).length"


@needs_browser
def test_on_a_phone_no_table_is_cut_and_each_figure_has_its_heading(tmp_path, chromium):
    root = month.whole(tmp_path)
    for name in ("halve", "a_function_with_a_rather_long_name", "another"):
        month.count(root, 1800, name, sectors=131072, wavefronts=1234567)
    made(root)
    chromium.open(root / "page.html", 390)
    assert chromium.value(CUT) == 0
    assert chromium.value("document.documentElement.scrollWidth") == 390
    heading = "getComputedStyle(document.querySelector('.wide td'), '::before').content"
    assert chromium.value(heading) == '"time"'
    chromium.open(root / "page.html", 1280)
    assert chromium.value(heading) == "none"


@needs_browser
def test_where_a_table_is_cut_all_the_same_a_shadow_says_so(tmp_path, chromium):
    root = month.whole(tmp_path)
    for number in range(12):
        month.count(root, 1800 + number, f"function_number_{number}", sectors=131072)
    made(root)
    chromium.open(root / "page.html", 800)
    assert chromium.value(CUT) >= 1
    shadows = "getComputedStyle(document.querySelector('.wide')).backgroundAttachment"
    assert chromium.value(shadows) == "local, local, scroll, scroll"


@needs_browser
def test_a_printed_page_shows_the_code_that_a_screen_folds(page, chromium):
    height = "document.querySelector('details pre').checkVisibility({contentVisibilityAuto: true})"
    chromium.open(page, 800)
    assert chromium.value(height) is False
    chromium.open(page, 800, media="print")
    assert chromium.value(height) is True


@needs_browser
def test_the_browser_would_notice_what_these_tests_look_for(tmp_path, chromium):
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<body style="background: #fff"><p style="color: #bbb">faint</p>'
        '<div style="width: 2000px">wide</div>'
        '<img src="missing.png"><script>console.log("hello"); nothing()</script>',
        encoding="utf-8",
    )
    chromium.open(bad, 390)
    assert (tmp_path / "missing.png").as_uri() in chromium.requests
    assert len(chromium.complaints) >= 2
    assert chromium.value("document.documentElement.scrollWidth") > 390
    assert chromium.value(FAINT)[0].startswith("P. faint")
