"""``gitrag web`` as a process, asked over HTTP, and opened in Chromium."""

from __future__ import annotations

import atexit
import functools
import http.client
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.command import PATIENCE_S, program, wait_until


@dataclass(frozen=True, slots=True)
class Answered:
    """What a server has answered."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class Site:
    """A page that is served.

    Attributes:
        address: Its address, token included, as printed.
        process: The command.
    """

    address: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"gitrag-{self.port}={self.token}"}

    def get(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Answered:
        """Ask for a page; with the cookie if no headers are given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request(method, path, headers=dict(self.cookie if headers is None else headers))
        response = connection.getresponse()
        body = response.read().decode("utf-8")
        found = {name.lower(): value for name, value in response.getheaders()}
        connection.close()
        return Answered(response.status, found, body)


@contextmanager
def served(place: Path, environment: Mapping[str, str], *args: str) -> Iterator[Site]:
    """Serve the page of a repository; it is interrupted at the end."""
    with subprocess.Popen(
        [program(environment), "web", *(args or ("--no-browser",))],
        cwd=place,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        line = process.stdout.readline().strip() if process.stdout else ""
        try:
            assert line, process.stderr.read() if process.stderr else ""
            yield Site(line, process)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@dataclass(slots=True)
class Heard:
    """What a browser has said and asked for while a page was open.

    Attributes:
        dialogs: Texts of dialogs: a script that is not ours has run.
        console: Messages and errors of scripts, refusals of the policy among them.
        requests: Addresses that were asked for.
    """

    dialogs: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@functools.cache
def _chromium(program: str) -> str:
    """Start Chromium for all tests of this process, and return its address."""
    profile = tempfile.mkdtemp(prefix="gitrag-chromium-")
    options = (
        "headless=new no-sandbox disable-gpu hide-scrollbars no-first-run disable-background-networking"
        " disable-component-update disable-sync force-color-profile=srgb remote-debugging-port=0"
    )
    # it goes with this process, however that ends
    bound = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    started = subprocess.Popen(
        [*bound, program, *(f"--{option}" for option in options.split()), f"--user-data-dir={profile}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def end() -> None:
        started.kill()
        started.wait()
        shutil.rmtree(profile, ignore_errors=True)

    atexit.register(end)
    told = Path(profile, "DevToolsActivePort")
    wait_until(lambda: told.exists() and told.read_text().count("\n") == 1, "Chromium listens")
    port, path = told.read_text().split("\n")
    return f"ws://127.0.0.1:{port}{path}"


@contextmanager
def browser() -> Iterator[Any]:
    """Connect to Chromium; skip the test where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium")
    if not _driver:
        _driver.append(playwright.sync_playwright().start())
    connected = _driver[0].chromium.connect_over_cdp(_chromium(chromium), timeout=1000 * PATIENCE_S)
    try:
        yield connected
    finally:
        for context in connected.contexts:
            context.close()
        connected.close()


_driver: list[Any] = []
"""Playwright's program, for the tests of a module: starting it takes a second."""


def end_driver() -> None:
    """End Playwright's program: until then asyncio cannot be used in this process."""
    while _driver:
        _driver.pop().stop()


@contextmanager
def opened(site: Site, **options: Any) -> Iterator[tuple[Any, Heard]]:
    """Open a site in a browser of its own."""
    with browser() as running:
        page = running.new_context(**options).new_page()
        heard = Heard()
        page.on("dialog", lambda dialog: (heard.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: heard.console.append(message.text))
        page.on("pageerror", lambda error: heard.console.append(str(error)))
        page.on("request", lambda request: heard.requests.append(request.url))
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(site.address)
        page.locator("[autofocus]:focus").wait_for()  # after the page is loaded; keys before it are lost
        yield page, heard
