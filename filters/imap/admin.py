"""Mailboxes in the administration: whose they are, and nothing of what is in them."""

from __future__ import annotations

from django.contrib import admin

from filters.imap.models import ImapFolder
from filters.site.admin_pages import WrittenByRuns


@admin.register(ImapFolder)
class ImapFolderPages(WrittenByRuns):
    """Mailboxes, to be deleted: a program then reads its mailbox anew."""

    list_display = ("owner", "filter", "shelf", "next_uid")
    search_fields = ("owner__username",)
