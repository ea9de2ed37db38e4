"""Administration pages of filters."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from filters.authoring.compilation.dependents import recompile_dependents
from filters.authoring.lifecycle import full_name, resume
from filters.authoring.models import Filter
from filters.runs.store import shared_window
from filters.runs.store.mailbox_outbox import leave
from filters.runs.store.schedule import replan
from filters.site.admin_pages import Pages
from filters.site.work.db.batching import batched

WATERMARK = ("since", "enrolled", "ran_at")
"""Fields that say how far a filter was run; only runs change them."""


@admin.register(Filter)
class FilterAdmin(Pages):
    """Filters of everybody: what others may refer to is for their owners to change."""

    list_display = [
        "name",
        "title",
        "owner",
        "phrase",
        "mode",
        "timeliness",
        "active",
        "visibility",
    ]
    list_display += ["error"]
    list_filter = ["active", "mode", "visibility", "owner"]
    search_fields = ["name", "title", "text"]
    readonly_fields = ["owner", "name", "title", "visibility", "text", "phrase", "tql"]
    readonly_fields += ["display_tql", "mode", "start", "end", *WATERMARK, "revision", "error"]
    readonly_fields += ["acts", "acts_since", "acts_a_day", "acts_stopped_at", "acts_left_out"]
    readonly_fields += ["acts_label", "acts_keyword", "acts_folder"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: filters are written on their own page, which compiles them."""
        return False

    def get_object(self, *args: Any, **kwargs: Any) -> Filter | None:
        filter_: Filter | None = super().get_object(*args, **kwargs)
        shared_window.show_position([filter_] if filter_ else [])
        return filter_

    def save_model(self, request: HttpRequest, obj: Filter, form: Any, change: bool) -> None:
        """Detach the filter from the shared window, then store what the page can change.

        What waits in it is planned anew: its timeliness may be another.  One that is active again
        is compiled again, as its owner's button does it.
        """
        row = Filter.objects.filter(pk=obj.pk)
        shared_window.detach(row)
        row.update(**{name: getattr(obj, name) for name in form.changed_data})
        replan(row)
        if obj.active and "active" in form.changed_data:
            transaction.on_commit(lambda: resume(obj))

    def delete_model(self, request: HttpRequest, obj: Filter) -> None:
        self.delete_queryset(request, Filter.objects.filter(pk=obj.pk))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Filter]) -> None:
        shared_window.detach(queryset)
        locked = queryset.select_related("owner").select_for_update(of=("self",)).order_by("pk")
        names = [full_name(filter_) for filter_ in locked]  # what a run is storing is there by then
        leave(queryset)
        super().delete_queryset(request, queryset)
        for batch in batched(names):
            recompile_dependents(batch, None)
