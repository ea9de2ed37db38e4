"""Tapestry's own file: every field of a filter returns, and what is none is refused in words."""

from __future__ import annotations

import re
import time
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filters.authoring import lifecycle
from filters.authoring.importing import own_file
from filters.authoring.importing.creation import create_all
from filters.authoring.importing.entries import UnreadableFileError
from filters.authoring.importing.files import read_file
from filters.authoring.importing.offers import offers_of
from filters.authoring.importing.own_file import write_filters
from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs.store.expiry import last_instant, stop_ended
from tapestry.core.clock import DAY, wall_clock

DOTTED = b"a." * 20_000 + b"a = 1\n"


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b'[[filter]]\ntitle = "x"\n', "Filter 1 of this file has no text"),
        (b'[[filter]]\ntext = "from x"\nsecret = "1"\n', "Line 3: a filter has no “secret”."),
        (b'[[filter]]\ntext = "from x"\nmode = 1\n', "could not read line 3"),
        (b'[[filter]]\ntext = """from x\nor from y"""\nmode\n', "could not read line 4"),
        (b'[[filter]]\ntext = "x"\ntext = "y"\n', "could not read line 3"),
        (rb"[[filter]]" + b"\n" + rb'text = "\q"', "could not read line 2"),
        (b'[[filter]]\n"text" = "x"\n', "could not read line 2"),
        (b'[[filter]]\ntext = "x', "could not read line 2"),
        (b"[[filter]]\n[filter.a]\n", "could not read line 2"),
        (b"[[filter]]\n" + DOTTED, "could not read line 2"),
        (b"[[filter]]\ntext = " + b"[" * 90_000, "could not read line 2"),
        (b"[[filter]]\ntext = " + b"{a=" * 90_000, "could not read line 2"),
        (b"[[filter]]\n" + DOTTED.replace(b"a.", b'"a".'), "could not read line 2"),
    ],
)
def test_what_no_filter_has_is_refused_with_its_line(raw: bytes, sentence: str) -> None:
    begun = time.process_time()
    with pytest.raises(UnreadableFileError, match=re.escape(sentence)):
        read_file(raw)
    assert time.process_time() - begun < 5


def test_tables_that_nest_never_reach_the_reader_of_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    def loads(_text: str) -> None:
        raise AssertionError("TOML is read")

    monkeypatch.setattr(own_file.tomllib, "loads", loads)
    for text in (DOTTED, b"[[filter]]\n" + DOTTED, b"# mine\n" + DOTTED):
        with pytest.raises(UnreadableFileError):
            read_file(text)


@pytest.mark.parametrize(
    "written",
    [
        '"from x"',
        "'from x'  # said",
        '"""from x"""',
        "'''from x'''",
        '"\\u0066rom x"',
        '"""\\\n   from x"""',
    ],
)
def test_every_string_of_toml_is_read(written: str) -> None:
    text = f"\ufeff# mine\r\n\r\n [[ filter ]] # first\r\ntext={written}\r\n[[filter]]\ntext = 'y'"
    assert [entry.text for entry in read_file(text.encode())] == ["from x", "y"]


def test_a_script_in_sieve_may_mention_a_table() -> None:
    script = b'if header "subject" text:\n[[filter]]\n.\n { keep; }'
    assert "LIKE" in read_file(script)[0].text


ZONES = st.sampled_from(["UTC", "Asia/Tokyo", "America/St_Johns", "Europe/Berlin"]).map(ZoneInfo)
TITLES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)
WRITTEN = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cf", "Co", "Cn"])
    | st.sampled_from("\"'\\\n\t#[]="),
    max_size=20,
)
FIELDS = {
    "title": st.builds("{} {}x".format, TITLES, TITLES),
    "name": st.from_regex(r"\A[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,2}\Z"),
    "text": WRITTEN.map(lambda text: "m.subject = '{}'".format(text.replace("'", "''"))),
    "mode": st.sampled_from(Filter.Mode.values),
    "visibility": st.sampled_from(Filter.Visibility.values),
    "timeliness": st.sampled_from(
        ["", "at once", "hourly", "every 5 minutes", "daily at 08:00", "weekly on Monday at 09:30"]
    ),
    "while_unread": st.booleans(),
    "acts": st.sampled_from(["", "read", "star done", "read star label done"]),
    "acts_a_day": st.sampled_from([500, 1, 20_000]),
    "active": st.booleans(),
    "start": st.none() | st.integers(0, wall_clock()),
}
ENDS = st.none() | st.integers(0, 150 * 365 * DAY)
DAYS = st.dates(date(1971, 1, 1), date(2100, 1, 1))


@pytest.fixture
def owner(alice: User, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(lifecycle, "present", wall_clock)
    return alice


@pytest.mark.parametrize("examples", [5, pytest.param(60, marks=pytest.mark.long)])
def test_every_field_of_a_filter_returns(owner: User, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(fields=st.fixed_dictionaries(FIELDS), end=ENDS | DAYS, zone=ZONES)
    def every_field_returns(fields: dict[str, Any], end: date | int | None, zone: ZoneInfo) -> None:
        check_fields(owner, fields, end, zone)

    every_field_returns()


def check_fields(
    owner: User, fields: dict[str, Any], end: date | int | None, zone: ZoneInfo
) -> None:
    """The rows are written, read and created again; they are gone after each example."""
    User.objects.filter(pk=owner.pk).update(time_zone=zone.key)
    person = User.objects.get(pk=owner.pk)
    fields |= {"acts_label": "Zürich, to do" if "label" in fields["acts"] else ""}
    until = last_instant(end, zone) if isinstance(end, date) else end
    before = Filter(owner=person, end=until, **fields)
    before.begin(before.start)
    (entry,) = read_file(write_filters([before], zone).encode())
    try:
        (offer,) = offers_of(person, [entry])
        assert (offer.problem, offer.is_ticked) == ("", True)
        created, refused = create_all(person, [entry])
        assert not refused
        made = Filter.objects.get(pk=created[0].pk)
        expected = fields | {"active": before.active or before.has_ended}
        assert {name: getattr(made, name) for name in fields} == expected
        assert made.end == until
        assert write_filters([made], zone) == write_filters([before], zone)
    finally:
        person.filters.all().delete()


def test_a_filter_that_has_ended_is_not_paused(owner: User) -> None:
    ended = Filter(name="over", text="from x", active=False, end=DAY, since=DAY)
    (entry,) = read_file(write_filters([ended], ZoneInfo("UTC")).encode())
    (made,), _ = create_all(owner, [entry])
    assert (made.end, made.active, made.has_ended) == (DAY, True, False)
    stop_ended(Filter.objects.all(), 0, wall_clock())
    made.refresh_from_db()
    assert made.has_ended


def test_no_lane_runs_a_paused_filter_as_it_is_created(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry,) = read_file(b'[[filter]]\ntext = "from x"\npaused = "yes"\n')

    activities: list[bool] = []
    save = Filter.save

    def saved(made: Filter, **options: Any) -> None:
        activities.append(made.active)
        save(made, **options)

    monkeypatch.setattr(Filter, "save", saved)
    (made,), _ = create_all(owner, [entry])
    assert activities == [False] and not Filter.objects.get(pk=made.pk).active


def test_a_filter_from_now_on_begins_where_it_began(owner: User) -> None:
    began, later = wall_clock() - 9 * DAY, wall_clock() + 9 * DAY
    for start, expected in ((began, began), (later, None)):
        filter_ = Filter(name="f", text="from x", start=start)
        (entry,) = read_file(write_filters([filter_], ZoneInfo("UTC")).encode())
        (made,), _ = create_all(owner, [entry])
        assert made.start is not None and made.since == made.start
        assert made.start == expected if expected else made.start <= wall_clock()
        assert made.is_searching == (start == began)
        made.delete()
