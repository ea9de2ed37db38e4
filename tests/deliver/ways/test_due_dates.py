"""Due dates as iCalendar documents, read again by a strict reader."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tapestry.core.clock import SECOND, parse_instant
from tapestry.deliver.ways.due_dates import DueDate, due_dates
from tests.support.formats.calendar_file import events_of

DUE = parse_instant("2026-12-02T15:00:00Z")


def test_a_due_date_is_an_event():
    plan = DueDate("1", DUE, DUE - SECOND, "Waiting: The plan; is it, so?", "https://x.org/?id=a;b")
    (event,) = events_of(due_dates("Tapestry: all", [plan]))
    assert event == {
        "UID": "1",
        "DTSTART": "20261202T150000Z",
        "DTSTAMP": "20261202T145959Z",
        "SUMMARY": "Waiting: The plan; is it, so?",
        "URL": "https://x.org/?id=a;b",
        "TRANSP": "TRANSPARENT",
    }
    assert events_of(due_dates("", [])) == []


@settings(max_examples=200)
@given(st.lists(st.text(max_size=200), max_size=4))
def test_each_text_is_read_again(texts):
    dates = [DueDate(str(n), DUE, DUE, text, "https://x.org/") for n, text in enumerate(texts)]
    events = events_of(due_dates("".join(texts), dates))
    assert len(events) == len(texts)
    for event, text in zip(events, texts, strict=True):
        printable = [
            c for c in text if ord(c) > 31 and ord(c) != 127 and not "\ud800" <= c <= "\udfff"
        ]
        assert "".join(event["SUMMARY"].split()) == "".join("".join(printable).split())
