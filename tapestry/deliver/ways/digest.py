"""Email digest: the matches of a batch in one message, as text and as HTML.

A table for layout and inline style, because Outlook and Gmail know little else; dark mode by a
media query, where it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage

from jinja2 import Environment, PackageLoader, StrictUndefined

from tapestry.deliver.batch import Batch, DeliveredMatch, Excerpts
from tapestry.deliver.mail.envelope import Envelope
from tapestry.deliver.mail.headers import delivery_headers
from tapestry.deliver.mail.mime_parts import alternative
from tapestry.deliver.mail.wrap import wrap
from tapestry.deliver.one_line import one_line, web_address
from tapestry.deliver.ranking import FilterGroup, grouped, net_changes
from tapestry.deliver.wording import (
    date_words,
    day_words,
    heading_of,
    shown_subject,
    subject_of,
    votes_words,
)

MOST = 25
"""Messages in a digest; a page of the site has the rest."""

_FILLER = "\u00a0\u200c" * 60
"""Filling after the preheader, so that a list of mail shows nothing else after it."""

_ENVIRONMENT = Environment(
    loader=PackageLoader("tapestry.deliver"),
    autoescape=lambda name: bool(name and name.endswith(".html")),
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
    auto_reload=False,
)
_ENVIRONMENT.filters["wrap"] = wrap
_HTML = _ENVIRONMENT.get_template("digest.html", globals={"filler": _FILLER})
_TEXT = _ENVIRONMENT.get_template("digest.txt")


@dataclass(frozen=True, slots=True)
class Row:
    """A message as a digest shows it: safe single lines, and addresses that are http or https."""

    subject: str
    sender: str
    details: str
    excerpt: str
    why: str
    url: str
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one filter; ``count`` says how many, and of how many if they are not all."""

    name: str
    text: str
    count: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of both templates, every text a safe single line.

    ``groups`` entered lists, ``left`` left them, and ``more`` counts what is not shown.
    """

    subject: str
    heading: str
    preheader: str
    note: str
    day: str
    groups: tuple[Section, ...]
    left: tuple[Section, ...]
    more: int
    site_name: str
    site_url: str
    settings_url: str
    unsubscribe_url: str
    to_address: str


def _no_excerpts(matches: Iterable[DeliveredMatch]) -> Excerpts:
    return {}


def compose(
    batch: Batch,
    envelope: Envelope,
    excerpts_of: Callable[[Iterable[DeliveredMatch]], Excerpts] = _no_excerpts,
) -> EmailMessage | None:
    """Return the digest of a batch; None if nothing entered or left a list and there is no note.

    At most MOST messages are in it, what entered before what left.  A message that entered and
    left the same list, or the other way round, is shown once, as it is now.  Groups are in the
    order of the filters' names; in each, the messages with the most votes come first, then those
    received last (tapestry.deliver.ranking).  ``excerpts_of`` reads the first words of what is
    shown.

    Raise TapestryError if an address or key of the envelope cannot stand in a header.
    """
    changes = net_changes(batch.matches)
    note = one_line(batch.note, 500)
    if not changes and not note:
        return None
    entered = [match for match in changes if match.op == "insert"]
    left = [match for match in changes if match.op == "delete"]
    subject = subject_of(entered, left, envelope.site_name)
    groups = grouped(entered, MOST)
    shown = sum(len(group.matches) for group in groups)
    departures = grouped(left, MOST - shown)
    shown += sum(len(group.matches) for group in departures)
    excerpts = excerpts_of([match for group in groups for match in group.matches])
    digest = Digest(
        subject=subject,
        heading=heading_of(entered, left, envelope.site_name),
        preheader=" · ".join(
            shown_subject(match, 60) for group in groups for match in group.matches[:2]
        ),
        note=note,
        day=day_words(envelope.local(envelope.now)),
        groups=_sections(groups, envelope, excerpts),
        left=_sections(departures, envelope, {}),
        more=len(changes) - shown,
        site_name=one_line(envelope.site_name),
        site_url=web_address(envelope.site_url),
        settings_url=web_address(envelope.settings_url),
        unsubscribe_url=web_address(envelope.unsubscribe_url),
        to_address=one_line(envelope.to_address),
    )
    headers = delivery_headers(envelope, batch.key, subject)
    return alternative(headers, _TEXT.render(d=digest), _HTML.render(d=digest))


def _sections(
    groups: Iterable[FilterGroup], envelope: Envelope, excerpts: Excerpts
) -> tuple[Section, ...]:
    now = envelope.local(envelope.now)
    return tuple(
        Section(
            one_line(group.filter_name, 80),
            one_line(group.filter_text, 300),
            f"{len(group.matches)} of {len(group.matches) + group.more}"
            if group.more
            else str(len(group.matches)),
            tuple(_row(match, envelope, now, excerpts) for match in group.matches),
        )
        for group in groups
    )


def _row(match: DeliveredMatch, envelope: Envelope, now: datetime, excerpts: Excerpts) -> Row:
    details = [date_words(envelope.local(match.received), now), votes_words(match.votes)]
    links = ((one_line(link.words, 40), web_address(link.url)) for link in match.links)
    return Row(
        shown_subject(match),
        one_line(match.sender_name, 80) or one_line(match.sender, 80) or "(nobody)",
        "".join(f" · {words}" for words in details if words),
        one_line(excerpts.get((match.msgid, match.audience), ""), 300),
        one_line(match.explanation, 300),
        web_address(match.url),
        tuple((words, url) for words, url in links if words and url),
    )
