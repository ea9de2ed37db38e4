"""What an export tells of a person: filters that can be read back, what they wrote, chose, did."""

from __future__ import annotations

import io
import json
import mailbox
import zipfile
from email import policy
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from filters.authoring import lifecycle
from filters.authoring.importing.creation import create_all
from filters.authoring.importing.files import read_file
from filters.authoring.models import Filter, Reminder
from filters.compose.models import Attachment, OutgoingMessage, SmtpAccount
from filters.delivery.models import Address, Destination, Feed, Subscription
from filters.inbox.models import AppraiserRule, MessageState, Mute
from filters.people.membership.export.archive import write
from filters.people.models import Passkey, User
from filters.sources.models import Source
from tapestry.core.clock import DAY, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.people.second_factors import SECRET, give_app

State = OutgoingMessage.State


def exported(user: User, tmp_path: Path) -> zipfile.ZipFile:
    path = tmp_path / "exports" / "one.zip"
    write(user, path)
    return zipfile.ZipFile(io.BytesIO(path.read_bytes()))


def written_in(archive: zipfile.ZipFile, tmp_path: Path) -> list[Any]:
    """Return the messages of written.mbox, as a mail program reads them."""
    archive.extract("written.mbox", tmp_path)
    box = mailbox.mbox(tmp_path / "written.mbox")
    parser = BytesParser(policy=policy.default)
    return [parser.parsebytes(raw) for raw in map(box.get_bytes, box.iterkeys())]


def test_filters_are_read_back_into_another_account_as_they_were(
    alice: User, carol: User, tables: Tables, tmp_path: Path
) -> None:
    end = (wall_clock() // DAY + 9) * DAY - 1
    lifecycle.install(
        alice, "about zoo", title="動物園", name="zoo", mode="live", visibility="shared",
        timeliness="daily at 08:00", while_unread=True,
    )  # fmt: skip
    lifecycle.install(alice, "m.subject = 'a \"b\" \\ c'\nAND m.size > 3", existing=False)
    lifecycle.install(alice, "in filter zoo and from x", title="Éa “<b>”", name="first")
    lifecycle.pause(lifecycle.install(alice, "from y", name="ends", end=end))
    raw = exported(alice, tmp_path).read("filters.toml")
    created, refused = create_all(carol, read_file(raw))
    assert len(created) == 4 and refused == []
    fields = ("name", "title", "text", "mode", "visibility", "timeliness", "while_unread", "end")
    former, new = (
        [
            (*(getattr(row, field) for field in fields), row.active, row.start is None)
            for row in Filter.objects.filter(owner=owner).order_by("name")
        ]
        for owner in (alice, carol)
    )
    assert former == new


def test_drafts_and_what_was_sent_are_messages(
    alice: User, bob: User, tables: Tables, tmp_path: Path
) -> None:
    draft = OutgoingMessage.objects.create(
        owner=alice, changed_at=1, sender="alice@example.org", to="Zoë <z@x.org>, not yet",
        bcc="boss@x.org", subject="Grüße\nBcc: no@x.org", body="From here\nJa.\n",
    )  # fmt: skip
    content = b"\0\1From "
    Attachment.objects.create(message=draft, name="plän.pdf", size=7, content=content)
    OutgoingMessage.objects.create(
        owner=alice, changed_at=2, state=State.REFUSED, bcc="boss@x.org",
        raw=b"To: no@x.org\r\nSubject: Refused\r\n\r\nHi\r\n",
    )  # fmt: skip
    OutgoingMessage.objects.create(
        owner=alice, changed_at=3, state=State.SENT, subject="Sent", body="Ok", send_at=0
    )
    OutgoingMessage.objects.create(owner=bob, changed_at=1, subject="Of bob")
    first, second, third = written_in(exported(alice, tmp_path), tmp_path)
    assert first["X-Tapestry-State"] == "draft" and first["Bcc"] == "boss@x.org"
    assert first["Subject"] == "Grüße Bcc: no@x.org" and first["To"].startswith("Zoë <z@x.org>")
    body = first.get_body()
    assert body is not None and "Ja." in body.get_content()
    (file,) = first.iter_attachments()
    assert (file.get_filename(), file.get_content()) == ("plän.pdf", content)
    assert (second["X-Tapestry-State"], second["Subject"]) == ("not sent", "Refused")
    assert second["Bcc"] == "boss@x.org" and third["X-Tapestry-State"] == "sent"
    assert third["X-Tapestry-Send-At"] == "1970-01-01T00:00:00+00:00"


def test_stars_snoozes_what_is_done_and_muted_threads(
    alice: User, bob: User, tables: Tables, tmp_path: Path
) -> None:
    for owner in (alice, bob):
        MessageState.objects.create(
            owner=owner, msgid=f"{owner}@x", audience="public", starred_at=0, changed_at=0
        )
        Mute.objects.create(owner=owner, root=f"root-{owner}@x")
        Reminder.objects.create(
            owner=owner, msgid=f"{owner}@x", audience="public", every=3,
            first=0, until=0, next_at=0, made_at=0,
        )  # fmt: skip
    lines = exported(alice, tmp_path).read("triage.jsonl").splitlines()
    state, reminder, mute = map(json.loads, lines)
    assert state == {
        "message": "alice@x", "audience": "public", "done": None,
        "starred": "1970-01-01T00:00:00+00:00", "snoozed_until": None,
        "at_the_top_of_inbox": None,
        "kept_out_of_inbox": None,
    }  # fmt: skip
    assert reminder == {
        "message": "alice@x", "audience": "public", "comes_back": "1970-01-01T00:00:00+00:00",
        "every_days": 3,
    }  # fmt: skip
    assert mute == {"muted_thread": "root-alice@x"}


TOLD = {
    *("Address", "AccessToken", "Aggregate", "AppraiserRule", "AuthenticatorApp", "BrowserSession"),
    *("Destination", "Feed", "Filter", "MessageState", "Mute", "OutboxAnnotation"),
    *("OutgoingMessage", "Passkey", "RecoveryCode", "Reminder", "Signature", "SmtpAccount"),
    *("Source", "Template"),
}
"""What people have of which the export tells."""

LEFT_OUT = {
    "Appraisal": "made of rules",
    "Appraiser": "made of rules",
    "Export": "itself",
    "FormerMatch": "what was before",
    "FormerMute": "what was before",
    "FormerState": "what was before",
    "FormerUnfolding": "what was before",
    "ImapFolder": "made of lists",
    "JmapAccount": "made of lists",
    "KeptMail": "quotes mail of groups",
    "LogEntry": "what administrators did",
    "MailboxAct": "is in the mailbox",
    "Selection": "kept for an hour",
    "TriageStep": "kept to be undone",
    "Trial": "kept for an hour",
}


def test_of_all_that_a_person_has_it_is_said_whether_the_export_tells_of_it() -> None:
    owned = {
        model.__name__
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.concrete and (field.many_to_one or field.one_to_one)
        if field.related_model is User
    }
    assert owned == TOLD | LEFT_OUT.keys()


@pytest.fixture
def choices(alice: User) -> None:
    """Something that alice chose of each kind; all that is secret has the word hidden in it."""
    filter_ = Filter.objects.create(owner=alice, name="jones", text="from jones")
    AppraiserRule.objects.create(owner=alice, weight=3, text="from Jones")
    address = Address.objects.create(owner=alice, email="al@x.org", confirmed_at=0)
    Source.objects.create(
        owner=alice, kind="imap", host="imap.x.org", port=993, user="al", secret="hidden",
        access_token="hidden", audience="user:alice", folder_patterns=["INBOX"],
    )  # fmt: skip
    Destination.objects.create(owner=alice, kind="digest", name="Digest", address=address)
    hook = Destination.objects.create(
        owner=alice, kind="webhook", name="Hook", all_filters=False, secret="hidden",
        settings={"url": "https://al:hidden@hooks.x.org/hidden", "floods": {"until": "hidden"}},
    )  # fmt: skip
    Subscription.objects.create(destination=hook, filter=filter_)
    Feed.objects.create(owner=alice, filter=filter_, token="hidden")
    SmtpAccount.objects.create(owner=alice, host="smtp.x.org", port=465, secret="hidden")
    give_app(alice)
    Passkey.objects.create(
        owner=alice, name="Laptop", digest="hidden", credential="hidden", created_at=0
    )


@pytest.mark.usefixtures("choices")
def test_choices_are_told_and_no_secret(alice: User, tables: Tables, tmp_path: Path) -> None:
    archive = exported(alice, tmp_path)
    profile = json.loads(archive.read("profile.json"))
    assert profile["appraiser_rules"] == [{"points": 3, "for": "from Jones"}]
    assert profile["mail_addresses"][0]["email"] == "al@x.org"
    assert profile["sources"][0]["folders"] == ["INBOX"]
    digest, hook = profile["destinations"]
    assert (digest["address"], digest["filters"]) == ("al@x.org", "all filters")
    assert (hook["host"], hook["filters"]) == ("hooks.x.org", ["jones"])
    assert profile["feeds"] == ["jones"] and profile["mail_server"]["host"] == "smtp.x.org"
    assert profile["passkeys"][0]["name"] == "Laptop" and profile["authenticator_app_since"]
    everything = b"".join(map(archive.read, archive.namelist()))
    assert b"hidden" not in everything and SECRET.encode() not in everything
