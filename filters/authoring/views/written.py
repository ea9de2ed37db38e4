"""What is being written, as it is carried in addresses: from the editor to its results and back."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from filters.authoring.acts import acts_named
from filters.authoring.forms import ACTS_DETAILS
from filters.authoring.models import Filter
from filters.people.requests import PersonRequest


@dataclass(frozen=True, slots=True)
class Written:
    """A text, its mode, and the short name of the filter that it is to change, "" for a new one.

    ``acts``: what it is to do with what it finds; ``details``: the tags and the folder of these.
    """

    text: str
    mode: str = Filter.Mode.KEEP
    name: str = ""
    acts: tuple[str, ...] = ()
    details: tuple[tuple[str, str], ...] = ()

    @property
    def live(self) -> bool:
        return self.mode == Filter.Mode.LIVE

    @property
    def query(self) -> str:
        """Return it as the query of an address."""
        mode = {} if self.mode == Filter.Mode.KEEP else {"mode": self.mode}
        return urlencode({"text": self.text} | mode | self._filter | self._acts, doseq=True)

    @property
    def editor(self) -> str:
        """Return the address of the page on which to go on writing it."""
        page = reverse("edit-filter", args=[self.name]) if self.name else reverse("new-filter")
        query = urlencode({"text": self.text, "mode": self.mode} | self._acts, doseq=True)
        return f"{page}?{query}"

    @property
    def _filter(self) -> dict[str, str]:
        return {"filter": self.name} if self.name else {}

    @property
    def _acts(self) -> dict[str, str | tuple[str, ...]]:
        return {"acts": self.acts, **dict(self.details)} if self.acts else {}


def mode_in(given: QueryDict) -> str:
    """Return the mode that a request carries; that of most filters, if it is none."""
    mode = given.get("mode", "")
    return mode if mode in Filter.Mode.values else Filter.Mode.KEEP.value


def written_in(request: PersonRequest, given: QueryDict) -> Written:
    """Return what a request carries; of the filter only if it is there, and the reader's own."""
    text = given.get("text", "").replace("\r\n", "\n")
    mode = mode_in(given)
    own = Filter.objects.filter(owner=request.user, name=given.get("filter", ""))
    acts = tuple(acts_named(given.getlist("acts")).split())
    details = tuple((name, str(given[name])) for name in ACTS_DETAILS if given.get(name))
    return Written(text, mode, own.values_list("name", flat=True).first() or "", acts, details)
