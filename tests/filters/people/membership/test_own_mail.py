"""Mail about accounts is known as this site's own: no source takes in the links that it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core import mail as sent_mail
from django.core.management import call_command

from filters.delivery.mail.signed import owner_of
from filters.people.membership import invitations, mails, resets
from filters.people.models import User
from filters.site.work.crypto.delivery_signer import delivery_signer
from tapestry.core.delivery_header import DELIVERY_HEADER
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest


def test_none_of_it_is_taken_in(alice: User, settings: Any, tmp_path: Path) -> None:
    settings.SIGN_UP = "on"
    assert resets.send_links(alice.email)
    assert invitations.send_link(alice.email)
    assert invitations.send_link("new@example.org")
    call_command("invite", "dave@example.org")
    assert mails.send_notice(alice.email, "alice", "The password was changed.")
    raw = [message.message().as_bytes() for message in sent_mail.outbox]
    box = tmp_path / "mailbox"
    box.mkdir()
    for number, letter in enumerate(raw):
        (box / f"{number}.eml").write_bytes(letter)
    tables = Tables(tmp_path / "tables")
    report = ingest(str(box), tables, MemoryClock(), is_ours=delivery_signer().has_signed)
    assert (report.added, report.skipped) == (0, 5)
    assert len({message.extra_headers[DELIVERY_HEADER] for message in sent_mail.outbox}) == 5
    assert [owner_of(letter) for letter in raw] == [None] * 5, "it is of no destination"
