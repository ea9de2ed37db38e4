"""Administration pages of annotations."""

from __future__ import annotations

from django.contrib import admin

from filters.reading.models import OutboxAnnotation
from filters.site.admin_pages import WrittenByRuns


@admin.register(OutboxAnnotation)
class OutboxAnnotationAdmin(WrittenByRuns):
    list_display = ["kind", "value", "number", "owner", "msgid", "appended_at"]
