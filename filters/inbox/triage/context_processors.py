"""What pages show of triage: the step that a form has just done, and what is selected."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from filters.inbox.models import Selection
from filters.inbox.triage.snoozing import moments
from filters.site.work.toast import TOAST
from tapestry.core.clock import wall_clock


def triage(request: HttpRequest) -> dict[str, Any]:
    """Return what the parts of pages for triage show; it is looked up only where they do."""
    return {
        "toast": SimpleLazyObject(lambda: request.session.pop(TOAST, None) or {}),
        "selection": SimpleLazyObject(lambda: selection_of(request)),
        "moments": SimpleLazyObject(lambda: moments(timezone.get_current_timezone(), wall_clock())),
    }


def selection_of(request: HttpRequest) -> Selection | None:
    """Return the selection that a request names, if it is the person's."""
    name = request.POST.get("selection") or request.GET.get("selection") or ""
    try:
        key = UUID(name)
    except ValueError:
        return None
    return Selection.objects.filter(owner=request.user.pk, pk=key).first()
