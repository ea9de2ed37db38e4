"""Two sites that forward all they take in to each other: the loop ends by itself."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tapestry.core.delivery_header import DELIVERY_HEADER, DeliverySigner
from tapestry.deliver.ways.forward import resent
from tapestry.ingest.ingest_batch import Tally, ingest_batches
from tapestry.ingest.large_message import RawMessage
from tapestry.ingest.stream import Item, MessageStream
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.delivery.delivered_matches import ENVELOPE
from tests.support.intake import ingest_target

ORIGINAL = b"Message-ID: <lunch@x.org>\r\nFrom: joe@x.org\r\nSubject: lunch\r\n\r\nNoon?\r\n"
ROUNDS = 5


class Site:
    """A site whose filter matches everything, and forwards it."""

    def __init__(self, name, tables):
        self.signer = DeliverySigner(name.encode())
        self.envelope = replace(ENVELOPE, message_id=f"1@{name}.example", signer=self.signer)
        self.target = ingest_target(tables, MemoryClock(), "public", is_ours=self.signer.has_signed)

    def take_in(self, raw):
        """Take a message in; return what is forwarded, and the tally."""
        tally = Tally()
        ingest_batches(
            MessageStream("box", iter([Item(RawMessage(raw), "box")]), lambda: 1),
            self.target,
            tally,
        )
        return (resent(raw, self.envelope, "1-2") if tally.added else None), tally


def stripped(raw):
    """A relay between them that removes the header."""
    return re.sub(rb"^" + DELIVERY_HEADER.encode() + rb":.*\r\n", b"", raw, flags=re.MULTILINE)


@pytest.mark.parametrize("relay", [bytes, stripped])
def test_what_comes_back_is_not_forwarded_again(tmp_path, relay):
    here, there = (Site(name, Tables(tmp_path / name)) for name in ("here", "there"))
    forwarded, tally = here.take_in(ORIGINAL)
    assert tally.added == 1
    sent = []
    while forwarded is not None and len(sent) < ROUNDS:
        sent.append(forwarded)
        site = there if len(sent) % 2 else here
        forwarded, tally = site.take_in(relay(forwarded))
    assert len(sent) == 2, "there once, and back once"
    assert tally == (Tally(skipped=1) if relay is bytes else Tally(read=1, duplicates=1))
