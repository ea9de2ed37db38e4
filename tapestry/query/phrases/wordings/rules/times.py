"""Rules about ages and days."""

from __future__ import annotations

import re

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


def _between_hours(found: re.Match[str]) -> str:
    """Return the hours of a day; of “2 to 4 pm” both are after noon."""
    day, low, high = found["day"], found["low"], found["high"]
    half = high.lstrip("0123456789: ")
    low += half if low.isdigit() and half and int(low) < int(re.split("[^0-9]", high)[0]) else ""
    return f"since {day} at {low} and until {day} at {high} "


RULES = (
    (
        "{when:WHEN} (christmas | xmas | christmas day) {year:YEAR}?",
        lambda found: f"{found['when']} 25 December {found['year'] or ''} ",
    ),
    (
        "{when:WHEN} (new year | new year's day | new years) {year:YEAR}?",
        lambda found: f"{found['when']} 1 January {found['year'] or ''} ",
    ),
    ("since (this)? morning", "since today "),
    ("(in | from)? this morning", "since today until today at 12:00 "),
    ("(since (this)? | from this | in this | this) afternoon", "since today at 12:00 "),
    ("since (last night | yesterday evening)", "since yesterday at 18:00 "),
    ("noon", "12:00 "),
    ("midnight", "0:00 "),
    ("at most {age:AGE} old", _recent),
    ("from {day:DATE} (on | onward | onwards)", "since {day}"),
    ("as of {day:DATE}", "since {day}"),
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
    ("in {one:DATE} or {other:DATE} $", "(in {one} or in {other})"),
    ("DONE? on? {day:DATE} (between | from) {low:CLOCK} (and | to) {high:CLOCK}", _between_hours),
    ("DONE? between {low:CLOCK} and {high:CLOCK} on {day:DATE}", _between_hours),
    ("DONE? between {low:CLOCK} and {high:CLOCK} {day:DAYNAME}", _between_hours),
    ("from {low:N} (to | until | till) {day:DATE}", "between {low} and {day}"),
    ("from {first:DATE} (to | until | till) {day:DATE}", "between {first} and {day}"),
    ("DONE? on or after", "since "),
    ("DONE? on or before", "until "),
    ("younger than", "newer than "),
    ("from {day:DATE} (and | or) (earlier | older | before)", "until {day}"),
    ("from {day:DATE} (and | or) (later | newer | after)", "since {day}"),
    ("from {day:DATED}", _dated),
    ("^ what (came | arrived | has come) in?", ""),
    ("WHICH (came | arrived | got) in?", ""),
    ("newest {age:AGE}", _recent),
    ("{compared:COMPARED} then", "{compared} than"),
    ("(more | older) than (say | about | roughly) {age:AGE} (old)?", _aged),
    ("age in days (is)? (greater | more | older) than {age:AGE}", _aged),
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
    ("this week's MAIL", "this week "),
    ("today's MAIL", "today "),
    ("{age:AGE} ago and", _aged),
    ("(DONE | from)? {age:AGE} ago", "on {age} ago"),
    ("DONE (yesterday | on yesterday)", "on yesterday "),
    ("from {day:WEEKDAY}", "on {day}"),
    ("(of | from) (today | this week)", lambda found: found[0].split(" ", 1)[1]),
    ("from (last)? {day:MONTH}", "in {day}"),
)
