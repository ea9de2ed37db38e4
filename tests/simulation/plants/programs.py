"""Faults of mail programs: what they set by IMAP and JMAP, and what they are told."""

from __future__ import annotations

from tests.simulation.plants.plant import Plant

PLANTS = (
    Plant(
        "a flag that a mail program clears stays",
        "filters.inbox.mailboxes",
        "set_flag",
        "_ACTIONS[flag][0 if to else 1]",
        "_ACTIONS[flag][0]",
        "marks",
    ),
    Plant(
        "keywords are tags for everybody",
        "filters.reading.annotations.keywords",
        "tell",
        '"private": True',
        '"private": False',
        "marks",
    ),
    Plant(
        "a keyword that is cleared stays",
        "filters.imap.folders",
        "_tag",
        "sorted(before ^ after)",
        "sorted(after - before)",
        "marks",
    ),
    Plant(
        "a keyword of JMAP is set, whatever is asked",
        "filters.jmap.calls.flags",
        "_change",
        "keyword.lower(), _is_set(path, value)",
        "keyword.lower(), True",
        "marks",
    ),
    Plant(
        "changes of JMAP are what is new",
        "filters.jmap.records",
        "changes",
        "filter(kind=kind, changed__gt=at)",
        "filter(kind=kind, created__gt=at)",
        "mail programs",
    ),
)
