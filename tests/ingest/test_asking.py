"""Messages that ask something, against 300 of real archives that were judged by reading them.

The messages are drawn with the seed “waiting 1”, 75 of each archive, and were judged without a look
at what the program says: a message asks if its author awaits an answer of somebody.  What ends in
a question mark and asks nobody is most of what is told wrongly.
"""

import csv
import random
from collections import defaultdict

from tapestry.ingest.archive.mbox import entries, open_archive
from tapestry.ingest.parse import parse
from tests.support.paths import FIXTURES

JUDGED = FIXTURES / "ingest" / "asking.tsv"
EACH = 75

LEAST_PRECISION, LEAST_RECALL = 0.68, 0.91
"""Of messages that say so, those that ask; and of those that ask, those that say so."""


def test_messages_that_ask_are_told(shared_mail):
    judged = defaultdict(dict)
    with JUDGED.open(newline="") as lines:
        for archive, place, msgid, said in csv.reader(lines, delimiter="\t"):
            judged[archive][int(place)] = (msgid, said == "asks")
    outcomes = []
    for archive, rows in judged.items():
        with open_archive(shared_mail / archive) as stream:
            raws = [entry.raw for entry in entries(stream)]
        assert set(rows) == set(random.Random("waiting 1").sample(range(len(raws)), EACH))
        for place, (msgid, asks) in rows.items():
            message = parse(raws[place]).message
            assert message.msgid == msgid
            outcomes.append((asks, bool(message.questions)))
    assert len(outcomes) == 300
    right = outcomes.count((True, True))
    assert right / (right + outcomes.count((False, True))) >= LEAST_PRECISION
    assert right / (right + outcomes.count((True, False))) >= LEAST_RECALL
