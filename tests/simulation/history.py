"""What happened in a world, in order: all that the auditor is told.

Every entry is a dict of plain JSON values with ``step``, ``now`` (the simulated wall clock) and
``what``; instants are integers, microseconds since 1970 UTC.  Readers skip entries and fields that
they do not know.

person: name, groups, time_zone, email, aliases, timeliness, quiet_from, quiet_to, holiday_until,
    workdays (digits, 0 is Monday), holidays (a day on each line), conversations;
    the whole of it again when it changed, with ``removed: true`` when it is gone
budgets: rules: what people may use, as TAPESTRY_BUDGETS has it; without, as much as they like
slow: rows: key, owner, since of filters that wait for another hour, while all else is done
submitted: table, rows (the columns of LANGUAGE.md without ts), origin (append, page, archive,
    keyword, mailbox, letter); ``receipt: null`` if nobody can say whether it comes in; of a
    mailbox: source, name; ``copy: true`` in a row of a forged copy.  What was answered by an end of
    the process is told when it was asked again; each must become visible, in one instant for one
    entry
filter: key, owner, name, text, phrase, tql (what runs, with what it refers to), existing, t0
    (null takes existing mail), live, waits, timeliness, while_unread, visibility, revision, acts
    (names of what it does with what it finds), acts_since, features (kinds of phrases or
    constructs), asked (what was sent to the page)
filter_changed: key, how (edit, forget, pause, resume, delete, mode, timeliness, recompiled), and
    all fields of ``filter`` as they are now, with active, since, error; of a deleted one only key
    and how
act: person, kind (an action of a list, undo, vote, tag, …), msgids, filter or thread, status (of
    the answer), until (of a snooze); of a keyword that a mail program sets: tag, is_set
act of kind book: person, act (add, remove, replace), says (kind, value, start of each annotation),
    status: contacts and meetings that somebody keeps by hand
steps: person, filter, reader, steps (of each op, msgid, matched_at), is_end: what a program that
    reads a filter by a cursor was told next by the API; ``seen, steps`` at a settled point
imap: person, mailbox, page and name (of the list that it has), uid_validity, next_uid, rows (uid,
    msgid, audience, whether seen, whether flagged, keywords): what a mail program was told by IMAP;
    ``seen, imap`` at a settled point
jmap: the same by JMAP, with ids for UIDs: validity and state (of all Emails), changed (which have
    changed since the state that the person's program was told before, and which are gone), rows
    (without keywords); ``seen, jmap`` at a settled point
remind: person, msgids (of one message), until (tomorrow, chosen, never, settled), chosen (a minute
    of the clock of zone), every (after so many days again), step_made, status
shown_now: person, filter, status: what a filter found and would show later was to be shown at once
unfold: person, filter, status: what a filter found in mail of before was opened in the inbox
acts_undone: person, filter, msgids, status: what a filter did with messages was undone
destination: key, uid, person, kind, address or url, filters (keys; null for all), active, cursor
    (where it begins in the release sequence); ``how: deleted``; of a mailbox: folder (in full),
    delimiter, keywords (whether it takes any); its address is the user
rules: person, how (add, weigh, move, remove, restored), rows (the rules of importance that stand
    then, in their order: key, weight, text), key (of the rule that was changed), sent, status
fault: kind (crash, split, restart, io_error, disk_full, link_error, lost_queue, clock_step,
    endpoint), and what the kind has
source: key, person, user (of the mailbox), audience, folders, active; ``how`` of a change
mailbox: how (came, renumbered, flags, removed), user, owner, folder, messages: what is said of each
    with its flags
upkeep: kind (compact, vacuum, backup, restore, forget, …), and what the kind has
letter: person, uid, kind (write, put off, send now, take back), zone, chosen (the minute that a
    form had), by (page, jmap), formatted, body, status, row (what is stored, as in ``letters``, or
    null)
letters: rows: uid, person, state, send_at, message_id, subject of all letters, at a settled point
received: endpoint (smtp, http, push, imap), recipient or path, answer (what was answered),
    message_id, payload; of a mailbox: folder, how (append, move, copy)
settled: rounds: all tasks were run until nothing was due
seen: kind and content:
seen, rows: table, rows (each column, ts among them), read from the Parquet files that the log
    names
seen, matches: rows of the Match table: key, filter, msgid, audience, matched_at, stored_at,
    shown_at, retracted_at, read_at, sequence, acted_at, acts (JSON: what its filter did, and what
    became of it), listed (has a card)
seen, filters: rows: key, owner, active, enrolled, proven, since, start, end, error, revision,
    begun_at, waits_from, start_clock, folds_before, unfolded_at, part and shared_since (of that
    part of the shared window)
seen, complete: rows: source, audience, upto, ts: up to when mail was here, from ts on
seen, clock: last, shared_since
seen, books: rows: key, person, kind, is_well (it is pulled, and did not fail), says (of what is on
    the server), may (what was said there of what cannot be read): of each source of contacts and
    meetings
seen, destinations: rows: key, cursor, latest, claimed_until, holder, due_at, failures, active,
    error
seen, mailbox_acts: rows: filter, msgid, wish (do, undo), ended_at, outcome, user (of the mailbox)
seen, asides: rows: kind, key, error_class, attempts, first_at: what was set aside
seen, letter: person, msgid, status: of a message that was asked for by its Message-ID
seen, mailbox: user, folders: what lies in each, with its flags
seen, page: person, page (inbox, filter, shelf, search, feed, importance), name, msgids in their
    order, status; importance is the inbox, or the list of the filter of that name, by the rules;
    lines, where each is a conversation: the msgids of each, the oldest first, and if it is unread;
    folded, of the inbox: how many messages of before filters have found, by their names
seen, as_of: person, page, name, at (an instant at which that page was looked at), msgids: as it was
seen, why: person, tql, msgid, matches: what is said of a message and a filter
seen, waiting: outbox, unreleased, stale, queue: what is not done, counted
seen, waits: person ("" of all), now: what `wait`, or a token of what they said, still waits for
seen, check: report of check-data: problems
seen, health: status, text of /healthz
error: task or request, text: an exception that nobody caught
log: level, name, text: a line of the site's log of level ERROR or more
"""

from __future__ import annotations

import json
from typing import Any

Entry = dict[str, Any]


class History:
    """A list of entries that only grows; ``place`` is where the site's data are, in its words."""

    def __init__(self, place: str = "") -> None:
        self.place = place
        self.entries: list[Entry] = []
        self.step = 0
        self.now = 0

    def add(self, what: str, **fields: Any) -> Entry:
        """Add an entry, of this step and instant."""
        if self.place and isinstance(fields.get("text"), str):
            fields["text"] = fields["text"].replace(self.place, "DATA")
        entry = {"step": self.step, "now": self.now, "what": what, **fields}
        self.entries.append(entry)
        return entry


def line(entry: Entry) -> str:
    """Return an entry as a line of the trace, the same for the same run."""
    return json.dumps(entry, ensure_ascii=False, sort_keys=True, default=str)
