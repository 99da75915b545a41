"""Where `course` lets pip look for PyTorch: CPU builds come first, and an index that does not answer costs seconds."""

import socket
import threading
import time
import urllib.request
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

WORKED = "asked .venv: -m pytest week1/day1"
SILENT = "PyTorch's index of CPU builds does not answer; going on without it."
SMALL, LARGE = "0.7 GB to download", "Up to 2.9 GB to download"
ENOUGH = 5  # seconds, ten times as long as it may take


# Indexes -----------------------------------------------------------------------------------------


@pytest.fixture
def serve():
    """serve(status) -> the address of an index that answers each question with it."""
    servers = []

    def start(status: int) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status if self.path == "/whl/cpu/torch/" else 404)
                self.end_headers()

            def log_message(self, *words):
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/whl/cpu"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def mute():
    """The port of a server that accepts, and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


@pytest.fixture
def deaf():
    """The port of a machine that does not even accept, as where there is no route."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as server:
        callers = [socket.socket() for _ in range(4)]
        for caller in callers:
            caller.setblocking(False)
            caller.connect_ex(server.getsockname())
        yield server.getsockname()[1]
        for caller in callers:
            caller.close()


@pytest.fixture
def dripping():
    """The port of a server that sends a letter now and then, for ever."""

    def drip(server):
        with closing(server.accept()[0]) as caller, suppress(OSError):  # whoever asked has gone
            while not over.wait(0.1):
                caller.sendall(b"H")

    over = threading.Event()
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=drip, args=(server,), daemon=True)
        thread.start()
        yield server.getsockname()[1]
        over.set()


# Does it answer? ---------------------------------------------------------------------------------


@pytest.fixture
def answers(checkout, monkeypatch):
    """answers(address), within the time that it may take."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setattr(urllib.request, "_opener", None)  # it remembers the proxies of its first question
    script = checkout.script()

    def ask(address: str) -> bool:
        began = time.monotonic()
        said = script.answers(address)
        assert time.monotonic() - began < ENOUGH
        return said

    return ask


def test_an_index_that_knows_pytorch_answers(answers, serve):
    assert answers(serve(200))


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_an_index_that_refuses_does_not(answers, serve, status):
    assert not answers(serve(status))


@pytest.mark.parametrize("kind", ["mute", "deaf", "dripping"])
def test_an_index_that_never_comes_to_an_end_does_not(answers, request, kind):
    assert not answers(f"http://127.0.0.1:{request.getfixturevalue(kind)}/whl/cpu")


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/whl/cpu", "http://no-such-host.invalid/whl/cpu", "nonsense"])
def test_an_index_that_is_not_there_does_not(answers, address):
    assert not answers(address)


def test_a_name_server_that_is_silent_costs_no_more(answers, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *question: time.sleep(ENOUGH))
    assert not answers("http://index.example/whl/cpu")


def test_a_proxy_that_hangs_costs_no_more(answers, mute, serve, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{mute}")
    assert not answers(serve(200))


# What pip is told --------------------------------------------------------------------------------


def asked_for(bare, **variables) -> tuple[str, list[str]]:
    """The index that pip was given, or "", and what was said."""
    ran = bare.run("week1/day1", **variables)
    assert ran.out == WORKED
    words = bare.asked()[-1].split(" ")
    return (words[words.index("--extra-index-url") + 1] if "--extra-index-url" in words else ""), ran.err.splitlines()


def test_cpu_builds_come_first_where_there_is_no_gpu(bare, serve):
    index = serve(200)
    bare.torch_from(index)
    given, said = asked_for(bare)
    assert given == index
    assert SILENT not in said and said[1].startswith(SMALL)


def test_without_that_index_pip_looks_where_it_always_does_and_a_line_says_so(bare, mute):
    bare.torch_from(f"http://127.0.0.1:{mute}/whl/cpu")
    given, said = asked_for(bare)
    assert given == ""
    assert said[1] == SILENT and said[2].startswith(LARGE)


def test_with_a_gpu_nobody_asks_for_cpu_builds(bare, serve):
    bare.torch_from(serve(200))
    bare.stub("nvidia-smi", "#!/bin/sh\necho 580.159.03")
    given, said = asked_for(bare)
    assert given == "" and SILENT not in said and said[1].startswith("3.0 GB")


def test_an_index_that_was_chosen_reaches_pip_and_the_sizes_follow(bare):
    index = "https://download.example/whl/cpu"
    given, said = asked_for(bare, COURSE_TORCH_INDEX=index)
    assert given == index
    assert SILENT not in said and said[1].startswith(SMALL)


def test_an_empty_choice_means_pypi_alone(bare, serve):
    bare.torch_from(serve(200))
    given, said = asked_for(bare, COURSE_TORCH_INDEX="")
    assert given == "" and SILENT not in said and said[1].startswith(LARGE)


def test_what_pip_is_told_elsewhere_stays_as_it_is(bare, serve):
    """--extra-index-url adds to the indexes and folders of pip's own configuration; nothing else is said to it."""
    bare.torch_from(serve(200))
    asked_for(bare, PIP_INDEX_URL="http://mirror.example/simple", PIP_FIND_LINKS="/wheels")
    options = {word for word in bare.asked()[-1].split(" ") if word.startswith("--")}
    assert options == {
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar=raw",
        "--extra-index-url",
        "--editable",
        "--constraint",
    }
