"""Kinds of administration pages: what may be changed and deleted on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

if TYPE_CHECKING:
    # The stubs know which model a page is about; Django itself takes no parameter.
    Pages = admin.ModelAdmin[Any]
    Lines = admin.TabularInline[Any, Any]
else:
    Pages, Lines = admin.ModelAdmin, admin.TabularInline


class WrittenByRuns(Pages):
    """What pages, runs and deliveries write: an administrator may look at it, and delete it."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class OnlyShown(WrittenByRuns):
    """What says how far all has come: without it, or with another, mail is lost or comes twice."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
