"""Faults of filters that act."""

from __future__ import annotations

from tests.simulation.plants.plant import Plant

PLANTS = (
    Plant(
        "a filter acts on existing mail",
        "filters.runs.store.acts_desk",
        "Desk._act_on_batch",
        "row.matched_at <= does.since",
        "row.matched_at <= 0",
        "acts",
    ),
    Plant(
        "what left a live filter stays starred",
        "filters.runs.store.acts_desk",
        "Desk._let_go_of",
        "self._set(mine[0], name, heir)",
        "self._set(mine[0], name, self._value(mine[0], name))",
        "lists",
    ),
    Plant(
        "a filter acts on what its owner has dealt with",
        "filters.runs.store.acts_desk",
        "Desk._act",
        "if name in FIELDS and self._value(row, name) is None:",
        "if name in FIELDS:",
        "lists",
    ),
    Plant(
        "a message is read in the filter alone that marks it read",
        "filters.runs.store.acts_desk",
        "Desk._inherit_read",
        "if row.read_at is None and instants:",
        "if row.read_at and instants:",
        "acts",
    ),
    Plant(
        "what a filter lets go keeps its flags in a mailbox",
        "filters.sources.acting",
        "_Desk._undo",
        'flags = set(row.place["flags"]) - set(at.had)',
        'flags = set(row.place["flags"]) & set(at.had)',
        "acts in mailboxes",
    ),
    Plant(
        "a filter says that it acted in a mailbox before it has",
        "filters.sources.acting",
        "_Desk._do",
        "self.mailbox.do(at, identity, raw, flags)",
        "self.mailbox.do(at, identity, raw, ())",
        "acts in mailboxes",
    ),
    Plant(
        "nobody acts in the shared window",
        "filters.runs.store.filter_store",
        "DjangoFilterStore.commit_shared",
        "acts.act_on(_pairs(matches), acting)",
        "acts.act_on([], acting)",
        "acts",
    ),
)
