"""JMAP accounts in the administration: whose they are, and nothing of what is in them."""

from __future__ import annotations

from django.contrib import admin

from filters.jmap.models import JmapAccount
from filters.site.admin_pages import WrittenByRuns


@admin.register(JmapAccount)
class JmapAccountPages(WrittenByRuns):
    """Accounts, to be deleted: programs then read all mailboxes anew."""

    list_display = ("owner", "state")
    search_fields = ("owner__username",)
