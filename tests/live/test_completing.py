"""The list of completions in a browser, when somebody writes faster than the server answers."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from playwright.sync_api import expect

from tapestry.query.phrases.help.completion import complete

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(120),
    pytest.mark.browser_says("tapestry.example"),
]

SCRIPT, EVENTS = (
    Path(finders.find(f"site/{name}.js")).read_text() for name in ("complete", "events")
)
PAGE = f"""<!doctype html><title>Write</title>
<textarea data-complete="/complete/" aria-label="Filter"></textarea>
<div hidden></div>
<script type="module">{SCRIPT}</script>"""
AT = "http://tapestry.example/"


def listed(text):
    """What the server answers: the completions at the end of a text, the first one chosen."""
    found = complete(text)
    context = {"completions": found, "chosen": True}
    return render_to_string("authoring/_completions.html", context)


@pytest.fixture
def page(browser):
    """The field, and a server that answers for "repl" and then never again."""
    opened = browser.new_page()

    def answer(route, request):
        if request.url.endswith("/events.js"):
            route.fulfill(body=EVENTS, content_type="text/javascript; charset=utf-8")
        elif "/complete/" not in request.url:
            route.fulfill(body=PAGE, content_type="text/html; charset=utf-8")
        elif request.url.endswith("text=repl&at=4"):
            route.fulfill(body=listed("repl"), content_type="text/html; charset=utf-8")

    opened.route("**/*", answer)
    opened.goto(AT)
    opened.get_by_label("Filter").press_sequentially("repl")
    opened.get_by_role("option", name="replies by").first.wait_for()
    return opened


def test_an_option_replaces_the_whole_word_however_late_its_list_is(page):
    field = page.get_by_label("Filter")
    field.press_sequentially("ie")
    page.get_by_role("option", name="replies by").first.click()
    expect(field).to_have_value("replies by ")


def test_text_around_the_word_stays(page):
    field = page.get_by_label("Filter")
    field.evaluate("field => field.setRangeText('i', 4, 4, 'end')")
    field.press("Tab")
    expect(field).to_have_value(re.compile("^repli."))
    expect(page.get_by_role("option")).to_have_count(0)


@pytest.mark.parametrize("written", ["ace it", " x"])
def test_an_option_that_no_longer_fits_takes_nothing_away(page, written):
    field = page.get_by_label("Filter")
    field.press_sequentially(written)
    page.get_by_role("option", name="replies by").first.click()
    field.press("Enter")
    expect(field).to_have_value(f"repl{written}\n")


def test_text_changed_before_the_word_keeps_an_option_out(page):
    field = page.get_by_label("Filter")
    field.evaluate("field => { field.value = 'from x repl'; }")
    page.get_by_role("option", name="replies by").first.click()
    expect(field).to_have_value("from x repl")
