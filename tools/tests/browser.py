"""A real browser for tests of pages: Chromium without a window, spoken to over two pipes (its DevTools protocol)."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
EXECUTABLE = next(filter(None, map(shutil.which, NAMES)), None)
MISSING = f"needs a browser; found none of {', '.join(NAMES)}; install Chromium"

# Chromium reads from 3 and writes to 4, so the pipes are put there.
START = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


def _pipe() -> tuple[int, int]:
    """A pipe whose two numbers are out of the way of 3 and 4."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved


class Browser:
    """One page. `requests` and `complaints` collect what it asked for and what its console said."""

    def __init__(self, profile: Path):
        self._read, theirs_out = _pipe()
        theirs_in, self._write = _pipe()
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, str(theirs_in), str(theirs_out), EXECUTABLE, *options],
            pass_fds=(theirs_in, theirs_out),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._left, self._session = 0, b"", None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *error) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def __call__(self, method: str, **parameters) -> dict:
        """Send a command and give its result; events on the way are noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, page: Path, width: int, dark: bool = False, media: str = "screen") -> None:
        """Show a file at this width, and wait until it is loaded."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.requests.clear()
        self.complaints.clear()
        self("Page.navigate", url=page.as_uri())
        while self.value("document.readyState") != "complete":
            time.sleep(0.02)
        self.value("new Promise(done => setTimeout(done, 50))")

    def value(self, script: str):
        """What an expression is worth in the page."""
        result = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", "a script failed"))
        return result["result"].get("value")

    def picture(self, file: Path) -> None:
        """Save the whole page as a PNG."""
        data = self("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def _next(self, patience: float = 30) -> dict:
        while b"\0" not in self._left:
            if not select.select([self._read], [], [], patience)[0]:
                raise TimeoutError("the browser does not answer")
            if not (data := os.read(self._read, 1 << 16)):
                raise EOFError("the browser has ended")
            self._left += data
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict) -> None:
        kind, about = event.get("method"), event.get("params", {})
        if kind == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif kind == "Log.entryAdded":
            self.complaints.append(about["entry"]["text"])
        elif kind == "Runtime.exceptionThrown":
            self.complaints.append(about["exceptionDetails"]["text"])
        elif kind == "Runtime.consoleAPICalled":
            self.complaints.append(str(about["args"]))
