"""The administration pages: what an administrator may look at and mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from filters import joint
from filters.models import Card, Clock, Filter, Joint, Match, PendingAnnotation, Profile, Pulse

if TYPE_CHECKING:
    # The stubs know which model a page is about; Django itself takes no parameter.
    FilterPages = admin.ModelAdmin[Filter]
    MatchPages = admin.ModelAdmin[Match]
    AnnotationPages = admin.ModelAdmin[PendingAnnotation]
else:
    FilterPages = MatchPages = AnnotationPages = admin.ModelAdmin


STANDING = ("since", "joined", "ran_at")
"""Fields that say where a filter stands, which runs alone move."""


@admin.register(Filter)
class FilterAdmin(FilterPages):
    """Filters of everybody."""

    list_display = ["name", "owner", "phrase", "mode", "active", "visibility", "error"]
    list_filter = ["active", "mode", "visibility", "owner"]
    search_fields = ["name", "text"]
    readonly_fields = [
        "text",
        "phrase",
        "tql",
        "shown",
        "mode",
        "start",
        "end",
        *STANDING,
        "revision",
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: filters are written on their own page, which compiles them."""
        return False

    def get_object(self, *args: Any, **kwargs: Any) -> Filter | None:
        """Return a filter, where it stands."""
        found = super().get_object(*args, **kwargs)
        joint.tell([found] if found else [])
        return found

    def save_model(self, request: HttpRequest, obj: Filter, form: Any, change: bool) -> None:
        """Store what was mended, apart from the joint run: it may be whether the filter runs."""
        joint.part(Filter.objects.filter(pk=obj.pk))
        obj.refresh_from_db(fields=STANDING)
        super().save_model(request, obj, form, change)


@admin.register(Match)
class MatchAdmin(MatchPages):
    """Matches, by filter."""

    list_display = ["msgid", "filter", "audience", "read_at", "gone_at"]
    raw_id_fields = ["filter", "card"]


@admin.register(PendingAnnotation)
class PendingAnnotationAdmin(AnnotationPages):
    """Annotations, those that wait and those that were appended."""

    list_display = ["kind", "value", "number", "owner", "msgid", "appended_at"]


admin.site.register([Profile, Card, Clock, Joint, Pulse])
admin.site.site_header = "Tapestry"
admin.site.site_title = "Tapestry"
