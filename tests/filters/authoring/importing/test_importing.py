"""Filters from Gmail, Sieve and Tapestry's own file: each clause translated, or named."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.importing.entries import UnreadableFileError
from filters.authoring.importing.files import LARGEST, read_file
from filters.authoring.models import Filter
from filters.people.models import User
from tapestry.core.clock import DAY, wall_clock
from tests.support.formats.gmail_file import gmail

SignIn = Callable[[User], Client]

SIEVE = """require ["fileinto", "vnd.strange"];  # of 2019
if anyof (header :contains "Subject" ["[plans]", "50%"],
          address :is :domain "from" "example.org") {
  fileinto "INBOX.Plans"; stop;
} elsif allof (size :over 100K, not header :is "X-Spam-Flag" "YES", strange :foo "bar") {
  discard;
}
vacation :days 7 "I am away";
"""


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "This file is empty"),
        (b"x" * (LARGEST + 1), "larger than 1 MB"),
        (b"\xff\x00\x81", "This is not a text file"),
        (b"<feed", "not a complete XML file"),
        (b"<feed/>", "has no filters as Gmail exports them"),
        (
            b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><feed>&b;</feed>',
            "declares entities",
        ),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><feed/>', "declares entities"),
        (b"<a>" * 50_000, "not a complete XML file"),
        (b"if (", "as Gmail, Sieve or Tapestry filters (line 1)."),
        (b"keep;\nif header ~ { }", "as Gmail, Sieve or Tapestry filters (line 2)."),
        (b"if " + b"not " * 1_000 + b"true { keep; }", "nested deeper than 32 levels"),
        (b"# nothing", "no filter in this"),
        (b"keep;" * 50_000, "larger than 128 KB"),
        (b"keep;" * 3_000, "more than 2,000 commands and tests"),
        (b"filter = " + b"[" * 9_000, "as Gmail, Sieve or Tapestry filters (line 1)."),
    ],
)
def test_what_is_no_file_of_filters_is_refused_in_words(raw: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableFileError, match=re.escape(sentence)):
        read_file(raw)


@pytest.mark.usefixtures("worker")
class TestPages:
    def offered(self, client: Client, raw: bytes) -> str:
        file = SimpleUploadedFile("filters.txt", raw)
        answer = client.post("/filters/import/", {"file": file}, follow=True)
        assert answer.status_code == 200, answer.content.decode()
        return answer.content.decode()

    def create(self, client: Client, page: str, **changed: str) -> str:
        fields = dict(re.findall(r'name="((?:entry|title)-\d+)" value="([^"]*)"', page))
        ticked = re.findall(r'name="create" value="(\d+)" checked', page)
        sent = {name: unescape(value) for name, value in fields.items()} | {"create": ticked}
        answer = client.post("/filters/import/create/", sent | changed, follow=True)
        return answer.content.decode()

    def test_only_what_is_exact_is_ticked_and_created(self, alice: User, as_user: SignIn) -> None:
        client = as_user(alice)
        page = self.offered(client, SIEVE.encode())
        assert "Not all conditions could be translated exactly" in page
        assert page.count(" checked") == 1 and page.count(" disabled") == 1
        assert "“My plans” created. Its matches will appear here." in self.create(
            client, page, **{"title-1": "My plans"}
        )
        made = Filter.objects.get()
        assert (made.title, made.name, made.owner) == ("My plans", "my-plans", alice)

    def test_what_finds_nearly_the_same_is_shown_with_the_reason(
        self, alice: User, as_user: SignIn
    ) -> None:
        page = unescape(self.offered(as_user(alice), gmail(hasTheWord="older_than:2m")))
        assert '60 days old <span class="fault">Approximately:' in page
        assert "Not all conditions could be translated exactly" in page and " checked" not in page

    def test_nothing_ticked_creates_nothing(self, alice: User, as_user: SignIn) -> None:
        assert "Nothing was ticked" in self.create(as_user(alice), "")
        assert not Filter.objects.exists()

    def test_a_file_that_is_none_is_refused_with_its_text(
        self, alice: User, as_user: SignIn
    ) -> None:
        pasted = {"pasted": "<b>no</b> filters"}
        page = as_user(alice).post("/filters/import/", pasted, follow=True).content.decode()
        assert "not a complete XML file" in page
        assert "&lt;b&gt;no&lt;/b&gt; filters</textarea>" in page

    def test_an_empty_file_is_refused_at_once(self, alice: User, as_user: SignIn) -> None:
        answer = as_user(alice).post("/filters/import/", {"pasted": " "})
        assert answer.status_code == 400 and "This file is empty" in answer.content.decode()

    def test_ten_megabytes_are_refused(self, alice: User, as_user: SignIn) -> None:
        file = SimpleUploadedFile("big.xml", b"<feed>" + b" " * 10_000_000)
        assert as_user(alice).post("/filters/import/", {"file": file}).status_code == 413

    @pytest.mark.parametrize("sent", ["", "[]", '{"text": 1}', '{"text": "replies bye x"}', "["])
    def test_a_form_that_was_tampered_with_creates_nothing(
        self, alice: User, as_user: SignIn, sent: str
    ) -> None:
        fields = {"create": "1", "entry-1": sent, "title-1": "x"}
        answer = as_user(alice).post("/filters/import/create/", fields, follow=True)
        assert answer.status_code == 200 and not Filter.objects.exists()

    def test_half_a_character_is_stored_as_a_question_mark(
        self, alice: User, as_user: SignIn
    ) -> None:
        fields = {"create": "1", "entry-1": r'{"text": "about a\ud800"}', "title-1": "x"}
        assert as_user(alice).post("/filters/import/create/", fields).status_code == 302
        assert "a?" in Filter.objects.get().text

    def test_a_round_trip_is_exact(
        self, alice: User, bob: User, carol: User, as_user: SignIn
    ) -> None:
        now = wall_clock()
        lifecycle.install(
            alice, "about zoo", title="動物園", name="zoo", mode="live", visibility="shared",
            timeliness="daily at 08:00", while_unread=True,
        )  # fmt: skip
        lifecycle.install(alice, "m.subject = 'a \"b\" \\ c'\nAND m.size > 3", existing=False)
        lifecycle.install(alice, "in filter zoo and from x", title="Éa “<b>”", name="first")
        ends = lifecycle.install(alice, "from y", name="ends", end=now // DAY * DAY + 9 * DAY - 1)
        lifecycle.pause(ends)
        over = lifecycle.install(alice, "from z", name="over", end=now - DAY)
        Filter.objects.filter(pk=over.pk).update(active=False, since=over.end)
        carol.time_zone = alice.time_zone
        carol.save()
        export = as_user(alice).get("/filters/export/")
        assert export["Content-Disposition"].endswith('.toml"')
        client = as_user(carol)
        page = self.offered(client, export.content)
        assert page.count(" checked") == 5
        assert "5 filters created. Their matches will appear here." in self.create(client, page)
        assert client.get("/filters/export/").content == export.content
        again = self.offered(client, export.content)
        assert again.count("You have this filter already.") == 5 and " checked" not in again
        assert b"[[filter]]" not in as_user(bob).get("/filters/export/").content

    def test_what_a_filter_does_is_said_before_it_is_created(
        self, alice: User, as_user: SignIn
    ) -> None:
        raw = b"""[[filter]]
title = "Zoo"
name = "zoo"
text = "about zoo"
mode = "live"
visibility = "shared"
timeliness = "daily at 08:00"
while_unread = "yes"
start = "2020-01-31T12:00:00Z"
until = "2020-03-01"
paused = "yes"
"""
        page = self.offered(as_user(alice), raw)
        for words in (
            "Everyone here will be able to see and use this filter.",
            "live: messages stay only while they match",
            "new matches are shown daily at 08:00, not while it has unread messages",
            "from 31 January 2020 on",
            "until 1 March 2020, which is over",
            "paused: it does not run until you resume it",
        ):
            assert words in page
        assert " checked" in page

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ('text = "replies bye x"', "“bye” is not understood here."),
            ('text = "in filter nowhere"', "There is no filter nowhere of alice’s"),
            ('text = "in filter own"', "own"),
            ('mode = "dead"', "Select a valid choice."),
            ('timeliness = "often"', "often"),
            ('name = "No Name"', "A short name is small letters"),
            ('paused = "maybe"', "Write paused as “yes” or “no”"),
            ('until = "soon"', "Write until as 2027-01-31T12:00:00Z, or as 2027-01-31."),
            ('until = "9999-12-31"', "Write a day of the years 1900 to 9000 as until"),
            ('until = "0001-01-01"', "Write a day of the years 1900 to 9000 as until"),
            ('until = "0001-01-01T00:00:00Z"', "Write until with a year from 1900 to 9000."),
            ('start = "0001-01-01T00:00:00Z"', "Write start with a year from 1900 to 9000."),
            ('start = "2020-13-31T00:00:00Z"', "Write start as 2027-01-31T12:00:00Z."),
        ],
    )
    def test_what_cannot_be_created_is_said_before(
        self, alice: User, as_user: SignIn, line: str, sentence: str
    ) -> None:
        key = line.partition(" ")[0]
        lines = {"name": 'name = "own"', "text": 'text = "from x"', key: line}
        page = self.offered(as_user(alice), "\n".join(["[[filter]]", *lines.values()]).encode())
        assert sentence in unescape(page) and " checked" not in page

    def test_filters_of_a_file_may_refer_to_each_other(self, alice: User, as_user: SignIn) -> None:
        raw = (
            b"[[filter]]\nname = 'a'\ntext = 'in filter b'\n"
            b"[[filter]]\nname = 'b'\ntext = 'from x'\n"
        )
        client = as_user(alice)
        page = self.offered(client, raw)
        assert page.count(" checked") == 2
        assert "2 filters created" in self.create(client, page)

    def test_strangers_are_led_to_sign_in(self, client: Client, db: None) -> None:
        for address in ("/filters/import/", "/filters/export/"):
            assert client.get(address).status_code == 302
        assert client.post("/filters/import/create/").status_code == 302


def test_what_was_pasted_is_still_there_beside_a_file_that_is_refused(
    alice: User, as_user: SignIn
) -> None:
    sent = {"file": SimpleUploadedFile("f.xml", b""), "pasted": "from:mary"}
    answer = as_user(alice).post("/filters/import/", sent)
    assert answer.status_code == 400 and "from:mary" in answer.content.decode()
