"""Formatted letters: what marks become, what they never do, and both parts on the wire."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from filters.compose.drafting.formatting import formatted_html, html_part
from filters.compose.models import OutgoingMessage
from tapestry.compose.revision import is_same_version
from tapestry.tables.delta.log import Tables
from tests.support.delivery.composed import answer, put, rows_of, send_due, typed
from tests.support.servers.smtp import SmtpServer

TEXT = "**Noon** at <b>my</b> place:\n\n- soup\n- salad\n\nSee https://x.org/menu\n-- \nAlice\n"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one\ntwo", "<p>one<br>\ntwo</p>\n"),
        ("# Plan\n~~old~~ `new`", "<h1>Plan</h1>\n<p><s>old</s> <code>new</code></p>\n"),
        ("Bob wrote:\n> # a *b*\n>> c  d", "<p>Bob wrote:</p>\n<blockquote># a *b*<blockquote>c"
         " &nbsp;d</blockquote></blockquote>\n"),
        ("```\n> x\n```", "<pre><code>&gt; x\n</code></pre>\n"),
        ("Hello\n-- \nAl", "<p>Hello</p>\n<p>--<br>\nAl</p>\n"),
        ("*See*\n\n---------- Forwarded message ----------\nTo: <a@x>\n\n*b*\n",
         "<p><em>See</em></p>\n<p>---------- Forwarded message ----------<br>\n"
         "To: &lt;a@x&gt;<br>\n<br>\n*b*</p>\n"),
        ("<b>x</b> [a](javascript:x)", "<p>&lt;b&gt;x&lt;/b&gt; [a](javascript:x)</p>\n"),
    ],
)  # fmt: skip
def test_marks_and_the_words_of_others(text: str, html: str) -> None:
    assert formatted_html(text) == html


MARKS = (
    *("> ", ">", "<b>", "*", "**", "`", "```\n", "- ", "\n", "\n\n", "a b", "-- \n", "[x](", ")"),
    *("|", "    ", "1. ", "&amp;", "https://x.org", "# ", "<img src=x>"),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(MARKS), max_size=20).map("".join))
def test_whatever_is_typed_is_safe_and_none_of_its_words_is_lost(text: str) -> None:
    html = formatted_html(text)
    assert not re.search(
        r"<(?!/?(a|b|blockquote|br|code|em|h1|hr|li|ol|p|pre|s|strong|t\w+|ul)\b)", html
    )
    words = unescape(re.sub(r"<[^>]*>", "", html))
    assert words.count("a b") == text.count("a b")


def test_a_formatted_letter_is_sent_as_text_and_as_html(
    browser: Client, letter: str, tables: Tables, smtp: SmtpServer
) -> None:
    row = answer(browser, letter, body=TEXT, formatted="on")
    page = browser.get(row.get_absolute_url()).content.decode()
    assert "<strong>Noon</strong>" in page
    again = OutgoingMessage.objects.get(pk=row.pk)
    send_due()
    (message,) = smtp.messages
    assert message.get_content_type() == "multipart/alternative"
    plain, html = message.iter_parts()
    assert plain.get_content().replace("\r\n", "\n") == TEXT
    assert plain["Content-Type"].params["format"] == "flowed"
    assert html.get_content().replace("\r\n", "\n") == html_part(TEXT)
    assert is_same_version(bytes(again.raw), smtp.taken[0])
    stored = next(found for found in rows_of(tables) if found["msgid"] == again.message_id)
    assert "**Noon** at <b>my</b> place" in stored["body"] and "<strong>" not in stored["body"]
    before = len(rows_of(tables))
    put(tables, smtp.taken[0])
    assert len(rows_of(tables)) == before, "the copy that comes back is the same message"
    frame = browser.get("/message/html/", {"id": again.message_id}).content.decode()
    assert "<strong>Noon</strong>" in frame and "<li>soup</li>" in frame
    begun = browser.get("/compose/").content.decode()
    assert re.search(r'<input[^>]*name="formatted"[^>]*checked', begun), "as the last one was"


def test_newsgroups_and_letters_without_a_text_get_no_html(
    browser: Client, smtp: SmtpServer
) -> None:
    browser.post("/compose/", typed(body=" ", formatted="on"))
    browser.post("/compose/", typed(body=TEXT))
    send_due()
    assert {message.get_content_type() for message in smtp.messages} == {"text/plain"}


def test_a_preview_shows_how_it_will_look_and_sends_nothing(browser: Client) -> None:
    shown = browser.post("/compose/", typed(body=TEXT, do="preview", formatted="on"))
    page = shown.content.decode()
    assert shown.status_code == 200 and "<strong>Noon</strong>" in page
    assert "**Noon** at &lt;b&gt;my" in page
    assert OutgoingMessage.objects.get().is_draft
    part = browser.post("/compose/preview/", {"body": TEXT}).content.decode()
    assert "**Noon** at &lt;b&gt;my" in part and "<html" not in part
    part = browser.post("/compose/preview/", {"body": TEXT, "formatted": "on"}).content.decode()
    assert "<li>soup</li>" in part
