"""Letters of the sample as bytes, read back by the real parser."""

import mailbox

from filters.sample.cast import CAST, MARY
from filters.sample.letter import Letter, to_bytes, to_mbox
from tapestry.core.clock import parse_instant
from tapestry.ingest.parse import parse

INGRID = next(person for person in CAST if person.user == "ingrid")
NOON = parse_instant("2026-01-31T12:00:00Z")


def test_a_letter_comes_back_from_its_bytes_as_it_was():
    letter = Letter(
        "1@loom.example",
        NOON,
        INGRID,
        "Größe",
        "Schöne Grüße\n",
        to=(("Mary Jones", MARY.address),),
        newsgroups=("comp.databases", "comp.sys.storage"),
        list_name="everyone",
        references=("a@loom.example", "b@loom.example"),
        attachment=("table.csv", "run,milliseconds\n1,2\n"),
    )
    message = parse(to_bytes(letter), "sample").message
    assert message.msgid == letter.msgid
    assert message.date == NOON
    assert (message.sender, message.sender_name) == (INGRID.address, "Ingrid Pöhl")
    assert message.to == (MARY.address,)
    assert message.subject == "Größe"
    assert message.body.strip() == "Schöne Grüße"
    assert set(message.newsgroups) == set(letter.newsgroups)
    assert message.list == "everyone.loom.example"
    assert message.inreplyto == "b@loom.example"
    assert set(message.references) == set(letter.references)
    assert message.attachments == 1


def test_a_line_that_begins_with_from_does_not_split_an_mbox(tmp_path):
    body = "From here on\n>From there\nit goes on.\n"
    letters = [Letter(f"{n}@loom.example", NOON, MARY, "Lines", body) for n in range(3)]
    path = tmp_path / "three.mbox"
    path.write_bytes(b"".join(map(to_mbox, letters)))
    assert len(mailbox.mbox(path)) == 3
