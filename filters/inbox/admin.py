"""Administration pages of matches."""

from __future__ import annotations

from django.contrib import admin

from filters.inbox.models import Card, Match, Mute
from filters.site.admin_pages import WrittenByRuns


@admin.register(Match)
class MatchAdmin(WrittenByRuns):
    list_display = ["msgid", "filter", "audience", "read_at", "retracted_at"]


admin.site.register([Card, Mute], WrittenByRuns)
