"""Takes the pictures of the page in this folder, asking the small world: python docs/screenshots.py MODEL FOREST."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --no-first-run".split()


def take(page: Page, url: str, name: str, width: int, height: int, **question: str) -> None:
    """Ask, open the answer that is told apart best, and take a picture."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{url}/?{urlencode(question)}")
    page.wait_for_selector(".answer")
    if "with" not in question and width > 400:
        page.locator(".answer").nth(1).click()
        page.wait_for_selector("table.parts")
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    page.screenshot(path=HERE / name)


def main(model: str, forest: str) -> None:
    """Serve, look, stop."""
    command = [sys.executable, "-u", "-m", "vecdcs", "serve", "-m", model, "--corpus", forest, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page()
        asked = "Who sells drugs banned by Canada?"
        take(page, address[0], "page.png", 1200, 860, q=asked)
        take(page, address[0], "page-compare.png", 1200, 860, q="banned drugs", **{"with": "drugs sold by Norvane"})
        take(page, address[0], "page-phone.png", 390, 844, q=asked)
        page.emulate_media(color_scheme="dark")
        take(page, address[0], "page-dark.png", 1200, 860, q="Who sells drugs banned by Canada?", pos="N")
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:3])
