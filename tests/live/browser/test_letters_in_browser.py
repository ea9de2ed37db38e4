"""A conversation in a browser: HTML in a frame, attachments, quotations; nothing leaves."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import Page, expect

from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.reading.models import OutboxAnnotation
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.ingest.parse import parse
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.support.browser.accessibility import faults
from tests.support.browser.browsing import open_as
from tests.support.browser.contrast import too_faint
from tests.support.browser.every_page import Watch

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}

PNG = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAA"
        "AElFTkSuQmCC"
    )
)
HEAD = (
    "From: {0} <{1}@example.org>\r\nTo: terry@example.org\r\n"
    "Subject: {2}\r\nMessage-ID: <{3}>\r\n{4}"
)
FIRST = """\
Hello Terry,

we have to choose a date for the meeting in Oxford. I have looked at the rooms
that are free in May, and there are only two of them that are large enough for
all of us. Which one would you like?

  room     seats   day
  Taylor      40   3 May
  Hooke       60   17 May

All of it is at https://example.org/rooms (write to rooms@example.org).
--{0}
Mary Jones
Oxford
""".replace("{0}", " ")
SECOND = """\
On Monday, 3 May, Mary Jones wrote:
> Hello Terry,
>
> we have to choose a date for the meeting in Oxford. I have looked at the rooms
> that are free in May, and there are only two of them that are large enough for
> all of us. Which one would you like?
>
>> Shall we meet?
>
> All of it is at https://example.org/rooms.
> Mary

The Taylor room, please.
"""
THIRD = (
    "Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n"
    "Content-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\n"
    "Content-Type: text/plain; format=flowed\r\n\r\nThat is \r\nsettled then.\r\n--a\r\n"
    "Content-Type: text/html\r\n\r\n<h1 style='color:#2b5a8a'>That is settled</h1>"
    "<p>See <a href='https://example.org/'>the page</a>.</p><script>parent.x = 1</script>"
    "<img src='https://tracker.example.org/a.png'><style>@import 'https://example.org/x.css'</style>"
    "<form action='https://example.org/'><button>Go</button></form>\r\n--a--\r\n--m\r\n"
    "Content-Type: image/png\r\nContent-Disposition: attachment; filename=room.png\r\n"
    f"Content-Transfer-Encoding: base64\r\n\r\n{PNG.decode()}\r\n--m\r\n"
    "Content-Type: text/x-patch\r\nContent-Disposition: attachment; filename=rooms.patch\r\n\r\n"
    "--- a\r\n+++ b\r\n--m--\r\n"
)
LETTERS = [
    HEAD.format("Mary Jones", "mary", "Rooms", "m0@x", "\r\n") + FIRST.replace("\n", "\r\n"),
    HEAD.format("Bill Smith", "bill", "Re: Rooms", "m1@x", "In-Reply-To: <m0@x>\r\n\r\n")
    + SECOND.replace("\n", "\r\n"),
    HEAD.format("Mary Jones", "mary", "Re: Rooms", "m2@x", "In-Reply-To: <m1@x>\r\n") + THIRD,
]

POLL = """
const part = document.getElementById("standing-of");
const asked = { source: part, target: part, swap: "outerHTML" };
htmx.ajax("GET", part.getAttribute("hx-get"), asked);
"""


@pytest.fixture
def rooms(transactional_db, settings, tmp_path, monkeypatch):
    """A conversation of three, which a filter of terry's has found; the last is read."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    terry = User.objects.create_user("terry", password="secret")
    made = Filter.objects.create(owner=terry, name="rooms", text="about rooms")
    now = wall_clock() - 9 * MINUTE
    for number, raw in enumerate(LETTERS):
        message = parse(raw.encode(), now=now).message
        originals = [Original(raw.encode())]
        append_messages(Tables(tmp_path / "tables"), DjangoClock(), [message], originals=originals)
        at = dict.fromkeys(("matched_at", "stored_at", "shown_at", "refreshed_at"), now + number)
        card = Card.objects.create(
            msgid=message.msgid, audience="public", ts=now + number, received=now + number,
            sender=message.sender, sender_name=message.sender_name, subject=message.subject,
        )  # fmt: skip
        read_at = now if number == 2 else None
        Match.objects.create(
            filter=made, msgid=message.msgid, audience="public", card=card, read_at=read_at, **at
        )
    return made


def open_page(browser, live_server, size: str, scheme: str) -> tuple[Page, Watch]:
    """Return terry's page of the second message, and who watches it."""
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)
    page = context.new_page()
    watch = Watch(page, live_server.url)
    open_as(page, f"{live_server.url}/in/rooms/?open=m1@x")
    return page, watch


def keep_to_oneself(page: Page) -> None:
    """A tick holds whatever is drawn again: by what others say, and by what one says oneself."""
    tag = page.get_by_label("Tag", exact=True)
    tag.fill("")
    tag.blur()
    page.get_by_text("Add a note").click()
    page.locator(".noting").get_by_label("only for me").check()
    page.locator(".priority select").select_option("7")
    with page.expect_response("**/message/standing/**private=note**"):
        page.evaluate(POLL)
    expect(page.locator(".priority select")).to_have_value("7")
    page.get_by_role("button", name="Set").click()
    expect(page.locator(".priority .tone")).to_have_text("terry: 7")
    annotate(User.objects.get(), "m1@x", "public", "tag", private=False, value="late")
    with page.expect_response("**/message/standing/**"):
        page.evaluate(POLL)
    expect(page.locator(".tag")).to_have_count(2)
    page.get_by_text("Add a note").click()
    expect(page.locator(".noting").get_by_label("only for me")).to_be_checked()
    page.get_by_label("Note", exact=True).fill("Mine alone.")
    page.get_by_role("button", name="Save note").click()
    expect(page.locator(".notes .text")).to_have_text("Mine alone.")
    audiences = dict(OutboxAnnotation.objects.values_list("kind", "audience"))
    assert audiences["note"] == "user:terry" and audiences["priority"] == "public"


AS_HIGH = """() => {
    const frame = document.querySelector("iframe.as-sent");
    const page = frame?.contentDocument?.documentElement;
    const more = page ? frame.clientHeight - page.getBoundingClientRect().height : -1;
    return more >= 0 && more < 25;
}"""
"""Whether a frame is as high as the mail in it."""


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
def test_a_conversation_is_read(browser, rooms, live_server, size, scheme):
    page, watch = open_page(browser, live_server, size, scheme)

    def look(name: str) -> None:
        assert faults(page) == [] and too_faint(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name

    quotation = page.locator("details.quote").first
    expect(quotation.locator("blockquote").first).to_be_hidden()
    expect(page.locator(".folded > div:visible"), "others are a line each").to_have_count(0)
    page.locator(".folded.unread summary").click()
    expect(page.locator(".folded.unread .letter")).to_contain_text("we have to choose a date")
    look("conversation")
    quotation.locator("summary").first.click()
    expect(quotation.locator("p").nth(1)).to_contain_text(
        "I have looked at the rooms that are free"
    )
    page.locator(".folded:not(.unread) summary").click()
    last = page.locator(".folded:not(.unread) .letter")
    frame = page.frame_locator("iframe.as-sent")
    expect(frame.get_by_role("heading")).to_have_text("That is settled")
    page.wait_for_function(AS_HIGH)
    last.get_by_role("button", name="As text").click()
    expect(last).to_contain_text("That is settled then.")
    expect(last.locator("img")).to_have_js_property("naturalWidth", 10)
    last.get_by_role("button", name="As it was sent (HTML)").click()
    expect(frame.get_by_role("heading")).to_have_text("That is settled")
    assert frame.locator("button, script").count() == 0
    assert page.evaluate("window.x") is None
    expect(last.get_by_role("link", name="Load remote pictures")).to_be_visible()
    look("html")
    mono = page.get_by_role("button", name="Monospace").first
    mono.click()
    expect(mono).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.locator("article.message")).to_have_class("message mono")
    annotate(User.objects.get(), "m1@x", "public", "tag", private=False, value="early")
    field = page.get_by_label("Tag", exact=True)
    field.fill("what I am writ")
    with page.expect_response("**/message/standing/**") as answer:
        page.evaluate(POLL)
    assert answer.value.status == 200
    expect(field).to_have_value("what I am writ")
    keep_to_oneself(page)
    look("said")
    page.get_by_role("link", name="Next message").click()
    expect(page.locator("article.message")).not_to_have_attribute("data-msgid", "m1@x")
    look("next")
    page.goto(page.url.partition("/in/")[0].partition("/?")[0] + "/message/?id=m1%40x")
    page.keyboard.press("n")
    expect(page.locator("article.message")).not_to_have_attribute("data-msgid", "m1@x")
    page.wait_for_load_state()  # its scripts hear keys only then
    page.keyboard.press("p")
    expect(page.locator("article.message")).to_have_attribute("data-msgid", "m1@x")
    page.emulate_media(media="print")
    assert page.locator("button:visible, .button:visible, .row:visible").count() == 0
    assert watch.wrong == []
