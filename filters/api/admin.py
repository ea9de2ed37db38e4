"""Tokens in the administration: who has one, and since when; never what it is."""

from __future__ import annotations

from django.contrib import admin

from filters.api.models import AccessToken
from filters.site.admin_pages import WrittenByRuns


@admin.register(AccessToken)
class AccessTokenPages(WrittenByRuns):
    """Tokens, to be deleted: none is made here, or its secret would be shown to another."""

    list_display = ("owner", "name", "scopes")
    search_fields = ("owner__username", "name")
    exclude = ("digest",)
