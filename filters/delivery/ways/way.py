"""What declares a way of delivery: all that pages, programs and workers know of a kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from django.urls import reverse

from filters.delivery.models import Destination
from tapestry.deliver.batch import Batch, Outcome

if TYPE_CHECKING:
    from filters.delivery.forms.base import DestinationForm

MAIL, OUTBOUND = "mail", "outbound"
"""Queues of deliveries: to our own mail server, and to servers that people name."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a way would send: header fields in their order, and the content as text.

    HTML is what this site wrote; a page shows it in a sandboxed frame.
    """

    kind: Literal["html", "text", "json"]
    content: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The declaration of a kind of destination.

    ``title`` names it, ``about`` says in a sentence what it does.  ``form`` asks for what it needs,
    and a worker tries that first if the form ``is_tried``; with ``page`` it is added on the page of
    that name instead.  ``send`` sends a batch, in ``queue``; ``preview`` returns what would be
    sent, and sends nothing.

    ``most`` is how many matches one delivery carries, ``most_an_hour`` how many deliveries there
    are in an hour: what comes faster is delivered together.  None has no limit.  With ``reopens``
    a range that failed is open again: what has come since is tried with it.  That is for servers
    that can be asked what they have.  With ``has_votes`` matches come with what was voted.
    """

    kind: str
    title: str
    about: str
    form: type[DestinationForm]
    send: Callable[[Destination, Batch], Outcome]
    preview: Callable[[Destination, Batch], Preview]
    queue: str = OUTBOUND
    most: int | None = None
    most_an_hour: int | None = None
    reopens: bool = False
    has_votes: bool = False
    page: str = ""

    @property
    def url(self) -> str:
        """The page on which such a destination is added."""
        return reverse(self.page) if self.page else reverse("new-destination", args=[self.kind])
