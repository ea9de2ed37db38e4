"""Random tables, audiences and schedules for the laws, as Hypothesis strategies.

Values are few, so that joins, ties and NULLs happen all the time: whole batches share one
``ts``, replies arrive in the batch of their parents or before them, one Message-ID is there
for two audiences.  Instants are small integers (microseconds), so that "one microsecond
later" meets another event as often as not.
"""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from tapestry.core.schema import ANNOTATIONS, MESSAGES, RETRACTION
from tests.support.generators.values import one_of, whole
from tests.support.oracle.queries import Data
from tests.support.oracle.values import Row

LAST = 12  # the newest ts of a table
MSGIDS = tuple(f"m{i}" for i in range(8))
AUDIENCES = ("public", "user:alice", "user:bob", "group:x")
PEOPLE = ("joe@x.org", "mary@x.org", "bill@y.org")
SUBJECTS = ("Re: Spark index", "index", "ÄPFEL und Birnen", "100% a_b", "")
WORDS = ("index", "spark index", "äpfel", "und birnen", "a b", "B", "100")
PATTERNS = (
    *("%index", "re:%", "%ä%", "100\\%%", "%a\\_b", "_ndex", "%", "joe@%", "%@x.org", "m_"),
    *("%.pdf", "image/%", "index/%"),
)
GROUPS = ("comp.sys", "comp.databases", "rec.food")
KINDS = ("vote", "tag")
VALUES = ("later", "index", "m1")
DELAYS = (0, 1, 2, 3, 5, 8)
TEXTS: dict[str, tuple[str, ...]] = {
    "msgid": MSGIDS,
    "inreplyto": (*MSGIDS, "mx"),
    "sender": PEOPLE,
    "sender_name": ("Joe", "Mary Jones", "joe@x.org"),
    "subject": SUBJECTS,
    "list": ("r-devel", "index"),
    "body": ("Spark", "the index, again", "x"),
    "source": ("a", "b"),
    "automatic": ("reply", "bulk"),
    "event": ("e1", "e2"),
    "method": ("request", "cancel"),
    "audience": AUDIENCES,
    "annid": tuple(f"a{i}" for i in range(6)),
    "owner": ("alice", "bob", "Joe"),
    "kind": KINDS,
    "value": VALUES,
    "to": PEOPLE,
    "to_names": ("Joe", "Mary Jones", "Bill"),
    "cc": PEOPLE,
    "cc_names": ("Joe", "Mary Jones", "Bill"),
    "filenames": ("index.pdf", "spark index.docx", "Äpfel.png"),
    "media_types": ("application/pdf", "image/png", "text/plain"),
    "diff_paths": ("index/spark.c", "index/x.c", "Makefile"),
    "newsgroups": GROUPS,
    "references": (*MSGIDS, "mx"),
}

_PROFILES: tuple[Row, ...] = (
    {},
    {
        **{"sender_name": "Joe", "subject": "index", "body": "Spark", "size": 1, "attachments": 0},
        **{"to": ("mary@x.org",), "newsgroups": ("comp.sys",), "list": "r-devel", "source": "a"},
        **{"to_names": ("Mary Jones",)},
    },
    {
        **{"subject": "Re: Spark index", "body": "Spark", "size": 2, "attachments": 1},
        **{"newsgroups": ("comp.sys", "rec.food"), "to": PEOPLE, "source": "b"},
        **{"to_names": ("Joe", "Mary Jones"), "filenames": ("index.pdf",)},
        **{"media_types": ("application/pdf",), "questions": 0, "automatic": "reply"},
        **{"diff_paths": ("index/x.c", "Makefile"), "patch": 1},
    },
    {
        **{"sender_name": "Mary Jones", "subject": "ÄPFEL und Birnen", "size": 2, "body": "x"},
        **{"cc": ("joe@x.org", "bill@y.org"), "source": "a", "list": "index", "attachments": 0},
        **{"questions": 2, "patch": 0, "event": "e1", "method": "request"},
    },
    {
        **{"sender_name": "Mary Jones", "subject": "100% a_b", "list": "r-devel", "size": 3},
        **{"attachments": 2, "to": ("joe@x.org",), "cc": ("joe@x.org",), "cc_names": ("Joe",)},
        **{"filenames": ("Äpfel.png", "spark index.docx"), "media_types": ("image/png",)},
    },
    {
        **{"sender_name": "joe@x.org", "subject": "", "body": "the index, again", "size": 3},
        **{"newsgroups": ("comp.databases",), "to": ("mary@x.org", "bill@y.org"), "source": "b"},
    },
)

_profiles = st.sampled_from(_PROFILES)


@cache
def _message_keys(fewest: int) -> st.SearchStrategy[list[tuple[str, str]]]:
    key = st.tuples(one_of(*MSGIDS[:6]), one_of(*_LIKELY_AUDIENCES))
    return st.lists(key, unique=True, min_size=fewest, max_size=8)


@cache
def _annotation_keys(fewest: int) -> st.SearchStrategy[list[tuple[str, str]]]:
    key = st.tuples(one_of(*TEXTS["annid"]), one_of(*_LIKELY_AUDIENCES))
    return st.lists(key, unique=True, min_size=fewest, max_size=6)


@st.composite
def messages(
    draw: st.DrawFn,
    batches: tuple[int, ...],
    unit: int = 1,
    fewest: tuple[int, ...] = (3, 1, 6, 0),
) -> list[Row]:
    """Draw up to eight rows, one per msgid and audience, whose ts is one of ``batches``."""
    keys = draw(_message_keys(draw(one_of(*fewest))))
    rows: list[Row] = []
    parents = _parents(keys)
    for msgid, audience in keys:
        late = draw(one_of(None, None, -9, -2, 0, 1, 4, 20))
        row = {"msgid": msgid, "audience": audience, "ts": draw(one_of(*batches))}
        row |= {
            "sender": draw(one_of(*PEOPLE, *PEOPLE, None)),
            "inreplyto": draw(one_of(*parents)),
            "date": None if late is None else row["ts"] + late * unit,
            "received": draw(one_of(None, *(row["ts"] - n * unit for n in _DELAYED))),
        }
        row |= draw(_profiles)
        row["references"] = draw(one_of(*_REFERENCES))
        rows.append(row)
    return rows + draw(_twins(rows, batches))


def _parents(keys: list[tuple[str, str]]) -> list[str | None]:
    """Return what a reply may name: most often a message that is there or will be."""
    there = [msgid for msgid, _ in keys]
    return [*there, None, None, "mx", *there]


@st.composite
def _twins(draw: st.DrawFn, rows: list[Row], batches: tuple[int, ...]) -> list[Row]:
    """Draw a second arrival of one message, for another audience and at another time."""
    keys = {(row["msgid"], row["audience"]) for row in rows}
    if not rows or draw(one_of(False, False, True)):
        return []
    row, audience = draw(st.sampled_from(rows)), draw(one_of(*_LIKELY_TWINS))
    twin = row | {"audience": audience, "ts": draw(one_of(*batches))}
    if draw(st.booleans()):
        twin |= draw(_profiles)
    return [] if (row["msgid"], audience) in keys else [twin]


_DELAYED = (0, 1, 3, 9, 40)
"""How long before its ``ts`` a message was received."""

_LIKELY_TWINS = ("user:alice", "user:alice", "public", "user:bob")
_LIKELY_AUDIENCES = (*["public"] * 6, *AUDIENCES)
_REFERENCES: tuple[tuple[str, ...], ...] = ((), (), ("m0",), ("m1", "m0"), ("m2", "mx"))


_STARTS = (-3, 0, 2, 5, 9)
"""How long after the first batch what an annotation says starts."""


@st.composite
def annotations(
    draw: st.DrawFn,
    batches: tuple[int, ...],
    about: tuple[str, ...] = MSGIDS[:5],
    unit: int = 1,
) -> list[Row]:
    """Draw up to six annotations, most of them on a message that can be there."""
    keys = draw(_annotation_keys(draw(one_of(2, 0, 4))))
    return [
        {
            "annid": annid,
            "audience": audience,
            "ts": draw(one_of(*batches)),
            "msgid": draw(one_of(*about, "mx")),
            "owner": draw(one_of(*TEXTS["owner"])),
            "kind": draw(one_of(*KINDS)),
            "value": draw(one_of(None, *VALUES)),
            "number": draw(one_of(None, 1.0, -1.0, 2.5)),
            "starts": draw(one_of(None, *(batches[0] + gap * unit for gap in _STARTS))),
        }
        for annid, audience in keys
    ]


@st.composite
def votes(draw: st.DrawFn, batches: tuple[int, ...], about: tuple[str, ...]) -> list[Row]:
    """Draw up to nine annotations that count: crowded on a few messages, by a few people.

    Their numbers cancel or are NULL, and are multiples of a half: every sum is exact.
    """
    crowd = about[: draw(whole(1, 3))]
    one = st.tuples(
        one_of(*_LIKELY_AUDIENCES),
        one_of(*batches),
        one_of(*crowd, *crowd, *crowd, *about, "mx"),
        one_of(*TEXTS["owner"]),
        one_of("vote", "vote", "vote", "tag"),
        one_of(None, *VALUES),
        one_of(1.0, -1.0, 0.5, None, 1.0, -1.0, -0.5),
    )
    size = draw(one_of(5, 2, 7))
    drawn = draw(st.lists(one, min_size=size, max_size=9))
    names = ("audience", "ts", "msgid", "owner", "kind", "value", "number")
    return [{"annid": f"a{i}"} | dict(zip(names, row, strict=True)) for i, row in enumerate(drawn)]


_CLAIMS: tuple[Row, ...] = (
    *[{}] * 6,
    {"owner": "bob"},
    {"audience": "user:alice"},
    {"msgid": "m0"},
    {"value": "r0"},
)
"""What a retraction says that may be wrong: then it has no effect."""


@st.composite
def retractions(draw: st.DrawFn, notes: list[Row], instants: st.SearchStrategy[int]) -> list[Row]:
    """Draw up to four rows that take back some annotations, or claim to; often none."""
    if not notes or draw(one_of(False, True, True)):
        return []
    one = st.tuples(st.sampled_from(notes), instants, st.sampled_from(_CLAIMS))
    names = ("msgid", "owner", "audience")
    return [
        {"annid": f"r{i}", "ts": ts, "kind": RETRACTION, "value": note["annid"]}
        | {name: note.get(name) for name in names}
        | claim
        for i, (note, ts, claim) in enumerate(draw(st.lists(one, min_size=1, max_size=4)))
    ]


@st.composite
def data(draw: st.DrawFn, unit: int = 1, crowded: bool = False) -> Data:
    """Draw both tables; they share their batches.  ``crowded``: with many votes."""
    at = st.lists(whole(0, LAST), min_size=1, max_size=5, unique=True)
    batches = tuple(instant * unit for instant in sorted(draw(at)))
    mail = draw(messages(batches, unit, (3, 5, 1) if crowded else (3, 1, 6, 0)))
    about = tuple(str(row["msgid"]) for row in mail)
    notes = votes(batches, about or MSGIDS[:2]) if crowded else annotations(batches, about, unit)
    made = draw(notes)
    taken_back = draw(retractions(made, one_of(*batches)))
    return {MESSAGES: mail, ANNOTATIONS: made + taken_back}


@st.composite
def crowds(draw: st.DrawFn) -> Data:
    """Draw three messages, and close together what refers to them: a few replies, many votes."""
    about, soon = one_of("m0", "m0", "m1", "m2"), whole(0, 6)
    seen = one_of("public", "public", "user:alice")
    reply = st.tuples(about, soon, seen, one_of(*PEOPLE), one_of(None, 1, 2, 3))
    number = one_of(1.0, 1.0, -1.0, 0.5, None)
    owner = one_of(*TEXTS["owner"])
    vote = st.tuples(about, soon, seen, owner, one_of(None, *VALUES), number)
    mail: list[Row] = [{"msgid": name, "ts": draw(soon) // 3} for name in ("m0", "m1", "m2")]
    if draw(st.booleans()):
        mail.append({"msgid": "m0", "ts": draw(soon), "audience": "user:alice"})
    names = ("inreplyto", "ts", "audience", "sender", "size")
    mail += [
        {"msgid": f"m{i}"} | dict(zip(names, row, strict=True))
        for i, row in enumerate(draw(st.lists(reply, max_size=3)), start=3)
    ]
    names = ("msgid", "ts", "audience", "owner", "value", "number")
    notes = [
        {"annid": f"a{i}", "kind": "vote"} | dict(zip(names, row, strict=True))
        for i, row in enumerate(draw(st.lists(vote, min_size=3, max_size=8)))
    ]
    notes += draw(retractions(notes, soon))
    return {MESSAGES: [{"audience": "public"} | row for row in mail], ANNOTATIONS: notes}


@st.composite
def partitions(draw: st.DrawFn) -> Data:
    """Draw messages that have much in common: who wrote them, what they answer, when they came."""
    values = {
        "sender": one_of(*[PEOPLE[0]] * 5, PEOPLE[1], None),
        "inreplyto": one_of("mx", "mx", "mx", "m0", None),
        "received": one_of(None, *range(-2, 5)),
        "date": one_of(None, 0, 3, 3),
        "size": one_of(1, 1, 2, 3, None),
        "list": one_of("index", "index", "index", None),
        "subject": one_of("index", "index", "Re: Spark index", None),
        "source": one_of("a", "a", "b", None),
    }
    seen = one_of(*["public"] * 5, "user:alice", "user:bob")
    key = st.tuples(one_of(*MSGIDS), seen)
    keys = draw(st.lists(key, unique=True, min_size=draw(one_of(6, 4, 3)), max_size=7))
    batches = tuple(sorted({draw(whole(0, LAST)) for _ in range(3)}))
    mail: list[Row] = []
    for msgid, audience in keys:
        row = {"msgid": msgid, "audience": audience, "ts": draw(one_of(*batches))}
        mail.append(row | {name: draw(value) for name, value in values.items()})
        if (mail[-1]["received"] or 0) > row["ts"]:
            mail[-1]["received"] = row["ts"]
    notes = draw(annotations(batches, tuple(msgid for msgid, _ in keys)))
    taken_back = draw(retractions(notes, one_of(*batches)))
    return {MESSAGES: mail, ANNOTATIONS: notes + taken_back}


audiences = st.sampled_from(
    (
        ("public",),
        ("public", "user:alice"),
        ("public", "user:alice"),
        ("public", "user:alice", "group:x"),
        ("user:bob",),
        AUDIENCES,
    )
)


@st.composite
def schedules(draw: st.DrawFn, events: tuple[int, ...] = (), unit: int = 1) -> list[int]:
    """Draw an increasing list of instants of runs, one to dozens, many of them on an event."""
    step = whole(-3, LAST + 25).map(lambda instant: instant * unit)
    if events:
        step = st.one_of(step, one_of(*events))
    runs = draw(st.lists(step, min_size=1, max_size=draw(one_of(1, 2, 4, 30))))
    return sorted(set(runs))
