"""What is set aside: of whom it is, which error it was, and the traceback by its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.models import SetAside
from filters.runs.operator.access import staff_form
from filters.runs.operator.lanes import SHOWN
from filters.site.work import set_aside
from filters.sources.models import Source

_NAMES: dict[str, tuple[type[Model], tuple[str, ...]]] = {
    SetAside.Kind.FILTER: (Filter, ("owner__username", "name")),
    SetAside.Kind.ENROLLED: (Filter, ("owner__username", "name")),
    SetAside.Kind.MATCH: (Match, ("filter__owner__username", "filter__name")),
    SetAside.Kind.SOURCE: (Source, ("owner__username",)),
    SetAside.Kind.DESTINATION: (Destination, ("owner__username", "kind")),
    SetAside.Kind.PERSON: (User, ("username",)),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is set aside; ``what`` names it by its owner, and not by its content."""

    row: SetAside
    what: str


def faults() -> Sequence[Fault]:
    """Return what is set aside, the newest errors first."""
    return [Fault(row, _name(row)) for row in SetAside.objects.order_by("-last_at")[:SHOWN]]


def _name(row: SetAside) -> str:
    model, fields = _NAMES.get(row.kind, (None, ()))
    if model is None:
        return row.key
    number = row.key.partition("/")[0]
    names = model._default_manager.filter(pk=number).values_list(*fields).first()
    return "deleted meanwhile" if names is None else ".".join(names)


@staff_form
def fault(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the traceback of what is set aside; have it tried again at once."""
    row = get_object_or_404(SetAside, pk=pk)
    if request.method == "POST":
        set_aside.try_now(row.pk)
        messages.success(request, "It is tried again with the next run.")
        return redirect("operator")
    return render(request, "runs/fault.html", {"fault": Fault(row, _name(row))})
