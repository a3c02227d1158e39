"""The page in a real browser: everything it does, with the mouse, the keyboard, on a phone; and no console errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from urllib.parse import parse_qs, quote_plus, urlparse

import pytest
from conftest import skip_or_fail
from made_models import world_folder
from playwright.sync_api import Browser, Page, expect, sync_playwright
from served import served

from vecdcs.dcs.tree import Tree
from vecdcs.model.ask import load
from vecdcs.web.app import make_app

FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync".split()
QUESTION = "_ & (sell/V & COMP:(drug/N & (ban/V & SUBJ:canada/N).COMP)).SUBJ"
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(make_app(load(world_folder() / "model"), world_folder() / "forest")) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        skip_or_fail("there is no chromium (apt-get install chromium, or set CHROMIUM)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=[*FLAGS, "--no-first-run"])
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """A fresh page that fails the test on any console error, failed request or request to elsewhere."""
    context = browser.new_context(base_url=url, viewport={"width": 1200, "height": 900})
    context.set_default_timeout(30_000)
    made = context.new_page()
    problems: list[str] = []
    made.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("request", lambda request: None if request.url.startswith(url) else problems.append(request.url))
    yield made
    context.close()
    expected = [text for text in problems if "status of 400" not in text]
    assert expected == [], expected


def open_question(page: Page, text: str, more: str = "") -> None:
    page.goto(f"/?q={quote_plus(text)}{more}")
    expect(page.locator(".answer").first).to_be_visible()


def asked(page: Page) -> str:
    return parse_qs(urlparse(page.url).query)["q"][0]


def words(page: Page) -> list[str]:
    return page.locator(".answer .name").all_inner_texts()


def choose(page: Page, word: str) -> None:
    page.locator(".node", has_text=word).first.click()
    expect(page.locator(".editor")).to_be_visible()


def press(page: Page, name: str) -> None:
    page.locator(".editor").get_by_role("button", name=name, exact=True).click()


def wait_for_tree(page: Page, expected: str) -> None:
    for _ in range(200):
        shown = page.locator(".notation").first.inner_text()
        if Tree.parse(shown) == Tree.parse(expected):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{shown!r} is not {expected!r}")


def test_type_a_phrase_and_see_tree_and_answers(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_label("A phrase, a question")).to_be_focused()
    page.keyboard.type("Who sells drugs?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer").first).to_be_visible()
    assert page.locator(".node .word").all_text_contents() == ["_", "sell/V", "drug/N"]
    assert page.locator(".tree .field").all_text_contents() == ["ARG", "SUBJ", "COMP", "ARG"]
    assert page.locator(".answer").count() == 10
    assert page.locator(".answer.exact").count() > 0
    expect(page.locator("#status")).to_contain_text("10 answers")
    widths = page.locator(".answer .bar > span").evaluate_all("bars => bars.map(bar => bar.offsetWidth)")
    assert widths == sorted(widths, reverse=True) and widths[0] > 0
    assert page.title() == "Who sells drugs? — vecdcs"


def test_exact_and_inferred_marks(page: Page) -> None:
    open_question(page, "Who sells drugs?", "&k=60")
    marks = page.locator(".answer .mark").all_inner_texts()
    assert any(mark.startswith("exact") for mark in marks) and "inferred" in marks


def test_click_an_answer_to_see_its_contributions_and_sentences(page: Page) -> None:
    open_question(page, "Who sells drugs?")
    first = page.locator(".answer").first
    first.click()
    rows = page.locator("table.parts tr")
    expect(rows).to_have_count(3)
    values = [float(text.replace("−", "-")) for text in page.locator("table.parts td.number").all_inner_texts()]
    assert sum(values[:-1]) == pytest.approx(values[-1], abs=0.002)
    assert page.locator("blockquote").count() > 0
    assert page.locator(".tree .heat").count() == 2
    expect(first).to_have_attribute("aria-expanded", "true")
    first.click()
    expect(page.locator("table.parts")).to_be_hidden()
    assert page.locator(".tree .heat").count() == 0


def test_change_a_field(page: Page) -> None:
    open_question(page, "_ & (sell/V & COMP:drug/N).SUBJ")
    before = words(page)
    choose(page, "sell/V")
    page.get_by_label("Field at this node’s end").fill("COMP")
    page.locator(".editor").get_by_role("group", name="Fields").get_by_role("button").click()
    wait_for_tree(page, "_ & (sell/V & COMP:drug/N).COMP")
    assert words(page) != before
    assert asked(page) == "_ & (sell/V & COMP:drug/N).COMP"


def test_change_a_word_with_suggestions(page: Page) -> None:
    open_question(page, "_ & (sell/V & COMP:drug/N).SUBJ")
    choose(page, "drug/N")
    page.get_by_role("combobox", name="Word").fill("boo")
    expect(page.locator("datalist#words option").first).to_have_attribute("value", "book/N")
    page.get_by_role("combobox", name="Word").fill("book/N")
    page.locator(".editor").get_by_role("group", name="Word").get_by_role("button").click()
    wait_for_tree(page, "_ & (sell/V & COMP:book/N).SUBJ")


def test_drop_a_node(page: Page) -> None:
    open_question(page, QUESTION)
    before = words(page)
    choose(page, "ban/V")
    press(page, "Drop")
    wait_for_tree(page, "_ & (sell/V & COMP:drug/N).SUBJ")
    assert words(page) != before


def test_hang_the_tree_up_elsewhere(page: Page) -> None:
    open_question(page, "drug/N & (ban/V & SUBJ:canada/N).COMP")
    choose(page, "ban/V")
    press(page, "Hang up here")
    wait_for_tree(page, "ban/V & SUBJ:canada/N & COMP:drug/N")


def test_put_the_blank_elsewhere(page: Page) -> None:
    open_question(page, QUESTION)
    before = words(page)
    choose(page, "canada/N")
    press(page, "Ask for this")
    wait_for_tree(page, "_ & (ban/V & COMP:(drug/N & sell/V.COMP)).SUBJ")
    assert words(page) != before


def test_compare_two_phrases(page: Page) -> None:
    open_question(page, "banned drugs")
    page.get_by_role("button", name="Compare with").click()
    page.get_by_label("A second phrase").fill("sold books")
    page.keyboard.press("Enter")
    expect(page.locator(".panel")).to_have_count(2)
    expect(page.locator("#similarity")).to_contain_text("Similarity of the two: 0.")
    left, right = (page.locator(".panel").nth(at).bounding_box() for at in (0, 1))
    assert left and right and left["y"] == right["y"] and left["x"] < right["x"]
    assert "with=sold+books" in page.url
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".panel")).to_have_count(1)
    assert "with=" not in page.url


def test_edit_the_second_tree(page: Page) -> None:
    open_question(page, "drug/N & ban/V.COMP", "&with=book/N+%26+sell/V.COMP")
    page.locator(".panel").nth(1).locator(".node", has_text="sell/V").click()
    press(page, "Drop")
    expect(page.locator(".notation").nth(1)).to_have_text("book/N")
    expect(page.locator(".notation").nth(0)).to_have_text("drug/N & ban/V.COMP")


def test_a_question_is_shared_by_its_address(page: Page, browser: Browser, url: str) -> None:
    open_question(page, "Who sells drugs?")
    page.locator("#settings summary").click()
    page.get_by_label("Part of speech").select_option("N")
    page.wait_for_function("location.search.includes('pos=N')")
    page.get_by_label("Answers", exact=True).fill("3")
    page.get_by_label("Rank by").select_option("score")
    expect(page.locator(".answer")).to_have_count(3)
    other = browser.new_page()
    other.goto(page.url)
    expect(other.locator(".answer")).to_have_count(3)
    assert words(other) == words(page)
    other.close()


def test_step_by_step(page: Page) -> None:
    """The noun stands for what hangs on it, in the answers and in their explanation."""
    open_question(page, QUESTION)
    page.locator("#settings summary").click()
    page.get_by_label("Inner nouns").select_option("1")
    page.wait_for_function("location.search.includes('steps=1')")
    open_question(page, QUESTION, "&steps=1")
    assert page.get_by_label("Inner nouns").input_value() == "1"
    page.locator(".answer").first.click()
    rows = page.locator("table.parts tr")
    expect(rows).to_have_count(5)
    values = [float(text.replace("−", "-")) for text in page.locator("table.parts td.number").all_inner_texts()]
    assert values[1] and values[2:4] == [0, 0] and sum(values[:-1]) == pytest.approx(values[-1], abs=0.002)


def test_back_and_forward(page: Page) -> None:
    open_question(page, "drug/N & ban/V.COMP")
    page.get_by_role("button", name="Who sells drugs?").click()
    expect(page.locator(".notation")).to_have_text("_ & (sell/V & COMP:drug/N).SUBJ")
    page.go_back()
    expect(page.locator(".notation")).to_have_text("drug/N & ban/V.COMP")
    expect(page.get_by_label("A phrase, a question")).to_have_value("drug/N & ban/V.COMP")
    page.go_forward()
    expect(page.locator(".notation")).to_have_text("_ & (sell/V & COMP:drug/N).SUBJ")


def test_each_of_several_blanks(page: Page) -> None:
    open_question(page, "sell/V & SUBJ:_ & COMP:_")
    before = words(page)
    page.get_by_label("Asking for").select_option("1")
    page.wait_for_function("(old) => document.querySelector('.answer .name').innerText !== old", arg=before[0])
    assert words(page) != before
    page.locator(".answer").first.click()
    expect(page.locator("table.parts tr")).to_have_count(2)


def test_with_the_keyboard_alone(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("button", name="banned drugs")).to_be_visible()
    page.keyboard.type("drug/N & ban/V.COMP")
    page.keyboard.press("Enter")
    expect(page.locator(".answer").first).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('node')"):
            break
    page.keyboard.press("ArrowDown")
    assert "ban/V" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Word")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".editor")).to_have_count(0)
    assert "ban/V" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    for _ in range(5):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('answer')"):
            break
    page.keyboard.press("Space")
    expect(page.locator("table.parts")).to_be_visible()


def test_everything_has_a_name_for_screen_readers(page: Page) -> None:
    open_question(page, "Who sells quuxes?")
    choose(page, "sell/V")
    page.locator(".answer").first.click()
    expect(page.locator("table.parts")).to_be_visible()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, [role=button], a')]
            .filter(e => !(e.getAttribute('aria-label') || e.innerText?.trim() || e.labels?.length))
            .map(e => e.outerHTML)"""
    )
    assert nameless == []
    assert page.locator("main").count() == 1 and page.locator("h1").count() == 1
    assert page.locator("[role=status][aria-live=polite]").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    labels = page.locator(".node").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    assert labels[0].startswith("blank, root, asked for")
    assert "unknown to the model" in labels[2]
    expect(page.locator(".note")).to_contain_text("quux/N")


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    open_question(page, QUESTION, "&with=drug/N+%26+ban/V.COMP")
    page.locator(".answer").first.click()
    expect(page.locator("table.parts").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    boxes = [page.locator(".panel").nth(at).bounding_box() for at in (0, 1)]
    assert boxes[0] and boxes[1] and boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]


def test_what_cannot_be_asked_is_told(page: Page) -> None:
    page.goto("/?q=drug%2FN+%26+%26")
    expect(page.locator("#status.bad")).to_contain_text("column 10")
    assert page.locator(".answer").count() == 0
    open_question(page, "drug/N & ban/V.COMP")
    expect(page.locator("#status.bad")).to_have_count(0)
    choose(page, "ban/V")
    page.get_by_label("Field at this node’s end").fill(" ")
    page.locator(".editor").get_by_role("group", name="Fields").get_by_role("button").click()
    expect(page.locator("#status.bad")).to_contain_text("expected a field")


def test_text_is_never_markup(page: Page) -> None:
    open_question(page, '"<img src=x onerror=alert(1)>/N" & ban/V.COMP')
    expect(page.locator(".note")).to_contain_text("<img src=x")
    assert page.locator("img").count() == 0


def test_dark_colours_are_readable(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    open_question(page, "banned drugs")
    contrast = page.evaluate(
        """() => {
            const light = (rgb) => rgb.match(/\\d+/g).slice(0, 3).map(Number).map(c => c / 255)
                .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
                .reduce((sum, c, at) => sum + c * [.2126, .7152, .0722][at], 0);
            const [a, b] = [light(getComputedStyle(document.querySelector('.answer .name')).color),
                            light(getComputedStyle(document.querySelector('.card')).backgroundColor)].sort();
            return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        }"""
    )
    assert contrast > 7


def test_the_interface_is_described(page: Page) -> None:
    page.goto("/docs")
    expect(page.locator(".endpoint")).to_have_count(8)
    expect(page.locator(".endpoint").first).to_contain_text("/api/ask")
