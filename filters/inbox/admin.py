"""Administration pages of matches."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from filters.inbox.models import Card, Match, Mute, lift_mutes
from filters.site.admin_pages import WrittenByRuns


@admin.register(Match)
class MatchAdmin(WrittenByRuns):
    list_display = ["msgid", "filter", "audience", "read_at", "retracted_at"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse it on these pages: lists of before would lack it.  It goes with its filter."""
        at = request.resolver_match
        is_here = at is not None and (at.url_name or "").startswith("inbox_match_")
        return not is_here and super().has_delete_permission(request, obj)


@admin.register(Mute)
class MuteAdmin(WrittenByRuns):
    """Muted threads; what is deleted is kept for lists of before."""

    def delete_model(self, request: HttpRequest, obj: Mute) -> None:
        self.delete_queryset(request, Mute.objects.filter(pk=obj.pk))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Mute]) -> None:
        lift_mutes(queryset)


admin.site.register(Card, WrittenByRuns)
