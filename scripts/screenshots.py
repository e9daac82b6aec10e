"""Take the pictures of the page that `docs/page.md` shows, in Chromium.

    .venv/bin/python scripts/screenshots.py ~/src/django docs/screenshots

The repository needs an index, and kombu, of which a file is shown, one that gitrag knows. Which questions are
asked is below. Each page is loaded several times, so that the time on it is that of a page in use.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PAGES = {
    "search": ("/search?q=where+are+migrations+applied", "light"),
    "file": ("/file/kombu/connection.py?blame=1&repo=kombu", "dark"),
    "calls": ("/calls?target=HttpRequest.get_host", "light"),
    "map": ("/map?by=language", "dark"),
}
SIZE = {"width": 1280, "height": 800}
WAIT_MS = 120_000
LOADED = 5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("directory", type=Path)
    asked = parser.parse_args()
    asked.directory.mkdir(parents=True, exist_ok=True)
    command = [str(Path(sys.executable).with_name("gitrag")), "web", "--no-browser"]
    with (
        subprocess.Popen(command, cwd=asked.repository, stdout=subprocess.PIPE, text=True) as process,
        sync_playwright() as playwright,
    ):
        address = next(iter(process.stdout or ())).strip()
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, (page, scheme) in PAGES.items():
            tab = browser.new_context(viewport=SIZE, color_scheme=scheme).new_page()
            tab.set_default_timeout(WAIT_MS)
            tab.goto(address)
            tab.goto(address.partition("/?")[0] + page)
            for _ in range(LOADED):
                tab.reload()  # what is loaded once is loaded now
            if tab.locator("#waiting").count():
                tab.locator("#waiting").wait_for(state="detached")
            if name == "calls":
                tab.locator("#picture .node:visible", has_text="DisallowedHost").first.wait_for()
            tab.screenshot(path=asked.directory / f"{name}.png")
            print(asked.directory / f"{name}.png")
        browser.close()
        process.send_signal(signal.SIGINT)


main()
