"""The store of filters in memory, as tapestry.core.ports.FilterStore says."""

from dataclasses import replace

from tapestry.core.clock import BEGINNING
from tapestry.core.ports import DueFilter


class MemoryStore:
    """Filters by id, their windows and matches, in this process; the shared window has one part."""

    part = 0
    divided_by = 1

    def __init__(self, live=False, **texts):
        self.filters = {
            number: DueFilter(number, text, "alice", (), ("public",), BEGINNING, None, live=live)
            for number, text in enumerate(texts.values())
        }
        self.matches = []
        self.changes = []
        self.failed = {}
        self.aside = {}
        self.expelled = {}
        self.worked_around = {}
        self.since = None
        self.enrolled_ids = set()

    def due(self, now):
        return [
            due
            for number, due in self.filters.items()
            if number not in self.enrolled_ids | set(self.aside)
        ]

    def known(self, pairs):
        return {(m.filter_id, m.msgid) for m in self.matches} & set(pairs)

    def commit(self, filters, until, matches, changes=()):
        if any(self.filters[due.filter_id].since != due.since for due in filters):
            return False
        for due in filters:
            self.filters[due.filter_id] = replace(self.filters[due.filter_id], since=until)
        self.matches += matches
        self.changes += changes
        return True

    def fail(self, failed, message):
        self.failed[failed.filter_id] = message

    def set_aside(self, failed, error):
        self.aside[failed.filter_id] = error

    def postpone(self, failed, until, error):
        self.aside[failed.filter_id] = error

    def expel(self, errors):
        self.expelled |= errors
        self.detach(errors)

    def held_out(self, ids):
        return set(self.expelled) & set(ids)

    def work_around(self, what, error):
        self.worked_around[what] = error

    def prove(self, ids, *, proven):
        for i in ids:
            self.filters[i] = replace(self.filters[i], proven=proven)

    def charge(self, filters, seconds):
        pass

    def shared_since(self):
        return self.since

    latest_since = shared_since

    def parts(self):
        return [0]

    def of_part(self, part):
        return self

    def enrolled(self, ids):
        return [
            replace(self.filters[i], since=self.since) for i in sorted(self.enrolled_ids & set(ids))
        ]

    def commit_shared(self, since, until, filters, matches):
        assert self.since == since
        self.since = until
        self.matches += matches
        return True

    def enroll(self, filters, until):
        if self.since == until:
            self.enrolled_ids |= {
                due.filter_id for due in filters if self.filters[due.filter_id].since == until
            }

    def detach(self, ids):
        for i in self.enrolled_ids & (self.enrolled_ids if ids is None else set(ids)):
            self.enrolled_ids.remove(i)
            due = self.filters[i]
            self.filters[i] = replace(due, since=self.since, revision=due.revision + 1)

    def revisions(self, ids):
        return {i: self.filters[i].revision for i in set(self.filters) & set(ids)}
