"""Rules about ages and days."""

from __future__ import annotations

import re
from calendar import monthrange

from tapestry.core.errors import Span
from tapestry.query.phrases.dates import MONTHS, read_date
from tapestry.query.phrases.wordings.rules.answers import counted


def _aged(found: re.Match[str]) -> str:
    return f"{counted(found['age'])} old "


def _recent(found: re.Match[str]) -> str:
    return f"newer than {counted(found['age'])} "


def _dated(found: re.Match[str]) -> str:
    day = found["day"]
    return f"{'on' if day[:2].strip(' .').isdigit() and ' ' in day else 'in'} {day} "


def _compact(found: re.Match[str]) -> str:
    unit = {"d": "days", "w": "weeks", "m": "months", "y": "years"}[found["age"][-1].lower()]
    return f"{found['compared']} than {found['age'][:-1]} {unit} "


_NOON = 12
_HOURS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}


def _part_of_day(found: re.Match[str]) -> str:
    day, (begin, end) = found["day"], _HOURS[found["part"].lower()]
    until = f"before {day} at {end}:00" if end < 24 else f"until {day}"
    return f"since {day} at {begin}:00 {until} "


_NTH = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "last": 1,
    "early": 1,
    "mid": 2,
    "late": 3,
}
_DAYS = {"week": 7, "half": 15, "third": 10}
_MONTHS = {"half": 6, "third": 4, "quarter": 3}
"""Parts of a month, and of a year, and how many days or months they have."""


def _part(found: re.Match[str]) -> str:
    """Return a part of a month or a year as days or months: the last goes on up to the end."""
    nth, part, period = found["nth"].lower(), found.groupdict().get("part"), found["period"]
    part = (part or ("quarter" if nth[0] == "q" else "third")).lower()
    date = read_date(period, Span(0, 0))
    length = (_DAYS if date and date.month else _MONTHS).get(part)
    if date is None or length is None:
        return found[0]
    end = monthrange(date.year or 2001, date.month)[1] if date.month else 12
    number = _NTH.get(nth) or int(nth.strip("qastndrhl") or 1)
    low = end - length + 1 if nth == "last" else length * (number - 1) + 1
    high = end if nth == "last" or low + 2 * length > end + 4 else low + length - 1
    if not low <= high <= end:
        return found[0]
    first, last = ((f"{day} " if date.month else f"{MONTHS[day - 1]} ") for day in (low, high))
    return f"between {first}{period} and {last}{period} "


_SEASONS = ("spring", "summer", "autumn")


def _season(found: re.Match[str]) -> str:
    """Return spring, summer or autumn, of the northern half of the world, as its months."""
    first = 3 * _SEASONS.index(found["season"].lower().replace("fall", "autumn")) + 3
    year = found.groupdict().get("year") or ""
    return f"between {MONTHS[first - 1]} {year} and {MONTHS[first + 1]} {year} "


def _between_hours(found: re.Match[str]) -> str:
    """Return the hours of a day; of “2 to 4 pm” both are after noon."""
    day, low, high = found["day"], found["low"], found["high"]
    half = high.lstrip("0123456789: ")
    low += half if low.isdigit() and half and int(low) < int(re.split("[^0-9]", high)[0]) else ""
    if low.isdigit() and high.isdigit() and int(high) < int(low) <= _NOON:
        high = f"{int(high) + _NOON}"  # “between 9 and 5”
    return f"since {day} at {low} and until {day} at {high} "


def _between_days(found: re.Match[str]) -> str:
    low, high = (found[name].rstrip("sthndr") for name in ("low", "high"))
    return f"between {low} {found['month']} and {high} {found['month']} "


def _either_day(found: re.Match[str]) -> str:
    return f"({_between_days(found).replace('between', 'on').replace(' and ', ' or on ').strip()}) "


RULES = (
    ("(in | from | during)? the? {nth:NTH} {part:PART} (of | in)? {period:CALENDAR}", _part),
    ("(in | from | during) {nth:PERIOD} (of)? {period:CALENDAR}", _part),
    ("(in | from | during)? last {season:SEASON}", _season),
    ("(in | from | during | since) the? {season:SEASON} (of)? {year:YEAR}", _season),
    (
        "{when:WHEN} (christmas | xmas | christmas day) {year:YEAR}?",
        lambda found: f"{found['when']} 25 December {found['year'] or ''} ",
    ),
    (
        "{when:WHEN} (new year | new year's day | new years) {year:YEAR}?",
        lambda found: f"{found['when']} 1 January {found['year'] or ''} ",
    ),
    ("this (morning's | afternoon's) MAIL", lambda found: found[0].partition("'")[0] + " "),
    ("since (this)? morning", "since today "),
    ("(in | from)? this morning", "since today until today at 12:00 "),
    ("(since (this)? | from this | in this | this) afternoon", "since today at 12:00 "),
    ("since (last night | yesterday evening)", "since yesterday at 18:00 "),
    ("(DONE | from | on)? {day:DATE} {part:DAYPART}", _part_of_day),
    ("noon", "12:00 "),
    ("midnight", "0:00 "),
    ("at most {age:AGE} old", _recent),
    ("from {day:DATE} (on | onward | onwards)", "since {day}"),
    ("as of {day:DATE}", "since {day}"),
    ("(not | no) later than {day:DATE}", "until {day}"),
    ("(not | no) earlier than {day:DATE}", "since {day}"),
    ("earlier than {day:DATE}", "before {day}"),
    ("later than {day:DATE}", "after {day}"),
    ("up to {day:DATE}", "until {day}"),
    ("{compared:COMPARED} (than)? {age:COMPACT}", _compact),
    (
        "(in | from | of | within | over | during) the (last | past) {unit:UNIT}",
        "newer than one {unit}",
    ),
    ("past (week | month | year | day)", lambda found: f"newer than one {found[0].split()[1]} "),
    ("in the year {day:YEAR}", "in {day}"),
    ("on {one:WEEKDAY} or (on)? {other:WEEKDAY}", "(on {one} or on {other}) "),
    ("on {low:NTHDAY} or {high:NTHDAY} {month:CALENDAR}", _either_day),
    ("(in | from) {one:CALENDAR} or {other:CALENDAR}", "(in {one} or in {other})"),
    ("DONE? on? {day:DATE} (between | from) {low:CLOCK} (and | to) {high:CLOCK}", _between_hours),
    ("DONE? between {low:CLOCK} and {high:CLOCK} on {day:DATE}", _between_hours),
    ("DONE? between {low:CLOCK} and {high:CLOCK} {day:DAYNAME}", _between_hours),
    ("from {low:N} (to | until | till) {day:DATE}", "between {low} and {day}"),
    (
        "({when:WHEN} | from)? {first:DATE} (to | until | till | through | -) {day:DATE}",
        lambda found: (
            found[0] if found["when"] else f"between {found['first']} and {found['day']} "
        ),
    ),
    ("DONE? on or after", "since "),
    ("DONE? on or before", "until "),
    ("younger than", "newer than "),
    ("from {day:DATE} (and | or) (earlier | older | before)", "until {day}"),
    ("from {day:DATE} (and | or) (later | newer | after)", "since {day}"),
    ("(from | of) {day:NUMERIC}", "on {day}"),
    ("between the? {low:NTHDAY} (and | to) the? {high:NTHDAY} of? {month:CALENDAR}", _between_days),
    ("from {day:DATED}", _dated),
    ("^ what (came | arrived | has come) in?", ""),
    ("WHICH (came | arrived | got) in?", ""),
    ("newest {age:AGE}", _recent),
    ("{compared:COMPARED} then", "{compared} than"),
    ("(more | older) than (say | about | roughly) {age:AGE} (old)?", _aged),
    ("age (in days)? (is)? (greater | more | older) than {age:AGE}", _aged),
    ("^ (the)? date is {when:WHEN}", "{when}"),
    ("age in days > {age:AGE}", _aged),
    ("age in days (is)? (greater | more | older) than {age:NUMBER} (days)?", "{age} days old"),
    ("age in days > {age:NUMBER}", "{age} days old"),
    (
        "age in days (is)? (less | fewer | younger) than {age:NUMBER} (days)?",
        "newer than {age} days",
    ),
    ("age in days < {age:NUMBER} (days)?", "newer than {age} days"),
    ("{age:AGE} older", _aged),
    ("{age:AGE} (or | and) (older | more)", _aged),
    ("BE? older than : {age:AGE}", _aged),
    ("(over | more than | at least) {age:AGE} (old | ago)", _aged),
    ("BE? older than {day:DATE}", "before {day}"),
    ("BE? newer than {day:DATE}", "after {day}"),
    ("DONE? between {low:N} and {high:AGE} ago", "between {low} and {high} old"),
    ("DONE? {low:N} (to | -) {high:AGE} ago", "between {low} and {high} old"),
    (
        "(DONE | BE DONE)? (in | from | of | within)? the? (last | past) {age:AGE} (of MAIL)? "
        "MAIL?",
        _recent,
    ),
    ("^ the? (recent | new | latest | newest) MAIL $", "newer than one week "),
    ("^ the? old MAIL $", "older than one year "),
    ("{day:ITS} MAIL", lambda found: f"{found['day'][:-2]} "),
    ("{age:AGE} ago and", _aged),
    ("(DONE | from)? {age:AGE} ago", "on {age} ago"),
    ("DONE (yesterday | on yesterday)", "on yesterday "),
    ("from {day:WEEKDAY}", "on {day}"),
    ("(of | from) (today | this week)", lambda found: found[0].split(" ", 1)[1]),
    ("from (last)? {day:MONTH}", "in {day}"),
)
