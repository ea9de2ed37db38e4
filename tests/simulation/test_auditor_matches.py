"""The auditor finds nothing in a right history, and each corruption of one."""

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapestry.query.tree.printer import print_tql
from tests.simulation.auditor import judge
from tests.simulation.stories import MESSAGE, Story, rows_of
from tests.support.generators.random_worlds import worlds
from tests.support.oracle.queries import Oracle

SILENT = "NOT EXISTS (r: r.inreplyto = m.msgid) AND m.received < now() - 0.00001 seconds"
VOTED = "EXISTS (a IN annotations: a.msgid = m.msgid AND a.kind = 'vote')"


def right_story():
    """Three filters over a question, its answer and a vote that is taken back."""
    story = Story()
    story.person("alice", "x")
    story.person("bob")
    story.filter(1, "alice", SILENT)
    story.filter(2, "bob", VOTED, live=True)
    story.filter(3, "alice", "m.subject = 'b'", t0=6)
    story.mail(5, {"msgid": "q", "subject": "b"}, {"msgid": "old", "received": -50})
    story.mail(8, {"msgid": "p", "subject": "b"}, {"msgid": "own", "audience": "user:bob"})
    story.notes(9, {"annid": "v", "msgid": "q", "owner": "bob"})
    story.match(1, "old", 5)
    story.match(3, "p", 8)
    story.match(2, "q", 9)
    story.settle(10)
    story.mail(12, {"msgid": "a", "inreplyto": "q", "audience": "group:x"})
    back = {"kind": "retraction", "value": "v", "number": None}
    story.notes(14, {"annid": "w", "msgid": "q", "owner": "bob", **back})
    story.matches[2] |= {"retracted_at": 14, "sequence": 9}
    story.match(1, "p", 19)
    story.match(1, "a", 23)
    story.matches[-1]["audience"] = "group:x"
    story.settle(30)
    return story


def found(story):
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_in_a_right_history():
    assert found(right_story()) == []


def match_of(story, key, msgid, point=-1):
    rows = rows_of(story, "matches", point)
    return rows, next(row for row in rows if (row["filter"], row["msgid"]) == (key, msgid))


def lose(key, msgid, point=-1):
    def corrupt(story):
        rows, row = match_of(story, key, msgid, point)
        rows.remove(row)

    return corrupt


def alter(key, msgid, point=-1, **fields):
    def corrupt(story):
        match_of(story, key, msgid, point)[1].update(fields)

    return corrupt


def invent(key, msgid, at, **more):
    def corrupt(story):
        rows, _ = match_of(story, 1, "old")
        rows.append({**rows[0], "filter": key, "msgid": msgid, "matched_at": at, **more})

    return corrupt


def without_row(table, msgid, point=-1):
    def corrupt(story):
        rows = rows_of(story, "rows", point, table=table)
        rows[:] = [row for row in rows if row["msgid"] != msgid]

    return corrupt


def changed_row(msgid, point=-1, **fields):
    def corrupt(story):
        for row in rows_of(story, "rows", point, table="messages"):
            if row["msgid"] == msgid:
                row.update(fields)

    return corrupt


def doubled_row(story):
    rows = rows_of(story, "rows", table="messages")
    rows.append(dict(rows[0]))


def copied_row(story):
    rows = rows_of(story, "rows", table="messages")
    rows.append({**rows[0], "msgid": f"{rows[0]['msgid']} copy:{'0' * 32}", "ts": 29})


def behind(story):
    rows_of(story, "filters")[0]["since"] = 13


def in_error(story):
    rows_of(story, "filters")[1]["error"] = "It took too long."


CORRUPTIONS = {
    "a match of existing mail is lost": (lose(1, "old", 0), "old matched at", "is not there"),
    "a match of an absence is lost": (lose(1, "p"), "p matched at", "is not there"),
    "a match of before is lost": (lose(1, "old"), "old matched at", "is not there"),
    "a match after T0 is lost": (lose(3, "p", 0), "p matched at", "is not there"),
    "an instant later": (alter(1, "p", matched_at=20), "00.000020Z", "and matched at"),
    "an instant earlier": (alter(1, "old", 0, matched_at=4), "old is there with matched_at"),
    "matched_at of before is changed": (alter(1, "old", matched_at=6), "and now at"),
    "one that was answered": (invent(1, "q", 16), "q is there", "has never matched"),
    "one of before T0": (invent(3, "q", 5), "q is there", "has never matched"),
    "a match of somebody else's mail": (
        invent(1, "own", 8, audience="user:bob"),
        "own is stored as of user:bob, which alice may not see",
    ),
    "a match for an audience that is not its own": (
        alter(1, "a", audience="user:alice"),
        "a of user:alice is gone and stored",
    ),
    "a match twice": (invent(1, "p", 19), "p is stored twice"),
    "a match of no filter": (invent(9, "p", 19), "is of a filter that is gone"),
    "a match without a card": (alter(1, "p", listed=False), "has no card"),
    "a live list that keeps": (alter(2, "q", retracted_at=None), "q is in the list at"),
    "a live list that lost": (alter(2, "q", 0, retracted_at=9), "q matches since"),
    "a retraction an instant later": (alter(2, "q", retracted_at=15), "did not cease to match"),
    "a retraction without a trace": (lose(2, "q"), "no trace of it is there"),
    "a live match an instant later": (alter(2, "q", 0, matched_at=10), "and matches since"),
    "a kept match is retracted": (alter(1, "p", retracted_at=25), "was retracted"),
    "a kept match of before is retracted": (alter(1, "old", retracted_at=25), "was retracted"),
    "a message is not visible": (without_row("messages", "a"), "0 are in messages"),
    "an annotation is not visible": (without_row("annotations", "q", 0), "0 are in annotations"),
    "a message of before is gone": (without_row("messages", "old"), "is gone from messages"),
    "a message is twice there": (doubled_row, "q of public is 2 times in messages"),
    "a copy that was not sent": (copied_row, "is more than once in messages"),
    "a message with another subject": (changed_row("a", subject="c"), "was never given so"),
    "a message that changes": (changed_row("q", subject="c"), "has changed: subject"),
    "a message that slips behind": (changed_row("a", ts=10), "came behind the clock"),
    "an append in parts": (changed_row("own", 0, ts=9), "became visible in parts"),
    "a message received after it came": (changed_row("a", received=13), "was received after"),
    "a filter that is not run": (behind, "was run up to"),
    "a filter that is set aside": (in_error, "set aside", "It took too long."),
}


@pytest.mark.parametrize(
    ("corrupt", "said"), [(c, s) for c, *s in CORRUPTIONS.values()], ids=CORRUPTIONS
)
def test_each_corruption_is_found(corrupt, said):
    story = copy.deepcopy(right_story())
    corrupt(story)
    sentences = found(story)
    assert any(all(part in sentence for part in said) for sentence in sentences), sentences


def test_a_finding_says_the_step_the_filter_and_the_evidence():
    story = right_story()
    lose(3, "p", 0)(story)
    (first, *_) = judge(story.entries)
    assert first.law == "matches"
    assert first.at_step == next(e["step"] for e in story.entries if e["what"] == "settled")
    assert "the filter 3 of alice “m.subject = 'b'”, T0 1970-01-01T00:00:00.000006Z" in str(first)
    assert "p matched at 1970-01-01T00:00:00.000008Z and is not there" in str(first)
    assert "msgid 'p', audience 'public', sender 'joe@x.org', subject 'b'" in str(first)


# Random filters: what is right is found by the oracle.

GIVEN = {name: value for name, value in MESSAGE.items() if value is not None}
"""What a message of a story has unless its row says otherwise; the oracle is to see it too."""


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(worlds(aggregates=True), st.booleans(), st.randoms(use_true_random=False))
def test_random_histories_are_right_as_the_oracle_says_and_wrong_if_one_match_is_not(
    world, live, lots
):
    rows = {**world.data, "messages": [GIVEN | row for row in world.data["messages"]]}
    story, oracle = Story(), Oracle(world.query, rows, ("public", "user:alice"))
    story.person("alice")
    story.filter(1, "alice", print_tql(world.query), live=live, t0=world.start)
    for ts in sorted({row["ts"] for rows in world.data.values() for row in rows}):
        story.mail(ts, *(dict(row) for row in world.data["messages"] if row["ts"] == ts))
        story.notes(ts, *(dict(row) for row in world.data["annotations"] if row["ts"] == ts))
    until = max([*oracle.events, *world.schedule]) + 1
    story.stored = {
        table: [row for row in rows if row.get("audience") != "user:zed"]
        for table, rows in story.stored.items()
    }
    for msgid, at in _right(oracle, world.start, until, live):
        seen = [r["audience"] for r in story.stored["messages"] if r["msgid"] == msgid]
        audience = next(a for a in seen if a in ("public", "user:alice"))
        story.match(1, msgid, at, audience=audience)
    story.settle(until)
    matches = [finding for finding in judge(story.entries) if finding.law == "matches"]
    assert matches == []
    if story.matches:
        rows = rows_of(story, "matches")
        row = lots.choice(rows)
        row["matched_at"] += 1
        assert any(finding.law == "matches" for finding in judge(story.entries))
        rows.remove(row)
        assert any(finding.law == "matches" for finding in judge(story.entries))


def _right(oracle, start, until, live):
    """What a filter has found up to an instant, with matched_at, by asking at every event."""
    if not live:
        return sorted(oracle.delivered([until], start)[0].items())
    began = {}
    before = set() if start is None else oracle.answer(start)
    held = set(before)
    for at in [at for at in oracle.events if start is None or at > start]:
        now = oracle.answer(at)
        held &= now
        began = {msgid: began.get(msgid, at) for msgid in now - held}
    return sorted(began.items())
