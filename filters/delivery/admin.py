"""Administration pages of deliveries."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from filters.delivery.mail import bounces
from filters.delivery.models import (
    Address,
    BounceMailbox,
    Delivery,
    Destination,
    Feed,
    KeptMail,
    Subscription,
)
from filters.runs.store import subscriptions
from filters.site.admin_pages import Lines, OnlyShown, Pages, WrittenByRuns


@admin.register(Address)
class AddressAdmin(Pages):
    """Addresses; only the link that was sent to one confirms it."""

    list_display = ["email", "owner", "confirmed_at", "proven", "problem"]
    search_fields = ["email"]
    readonly_fields = ["owner", "email", "asked_at", "confirmed_at", "confirmed_here", "proven"]
    readonly_fields += ["warning"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Address, form: Any, change: bool) -> None:
        """Store what the page can change: it may be confirmed meanwhile.

        Without a problem, what came back is counted anew.
        """
        anew = {} if obj.problem else {"warning": "", "bounced": []}
        Address.objects.filter(pk=obj.pk).update(problem=obj.problem, **anew)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show, above the list, the address that bounces are posted to."""
        title = f"A mail server may post bounces to {bounces.post_url()}"
        return super().changelist_view(request, {"subtitle": title} | (extra_context or {}))


class SubscriptionLines(Lines):
    """The filters of a destination, on its page."""

    model = Subscription
    fields = ["filter", "since"]
    readonly_fields = ["filter", "since"]
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Destination)
class DestinationAdmin(Pages):
    """Destinations; their secrets are shown to nobody, and deliveries alone move their cursors."""

    list_display = ["name", "kind", "owner", "active", "failing_since", "error"]
    list_filter = ["kind", "active"]
    readonly_fields = ["owner", "kind", "address", "all_filters", "all_since", "cursor", "latest"]
    readonly_fields += ["claimed_until", "holder", "due_at", "failures", "failing_since", "error"]
    fields = ["name", "active", *readonly_fields]
    inlines = [SubscriptionLines]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: destinations are added on their own pages, at the position reached by then."""
        return False

    def save_model(self, request: HttpRequest, obj: Destination, form: Any, change: bool) -> None:
        """Store what the page can change: deliveries change the rest meanwhile."""
        Destination.objects.filter(pk=obj.pk).update(name=obj.name, active=obj.active)
        if obj.active and "active" in form.changed_data:
            subscriptions.turn_on(obj)


@admin.register(Delivery)
class DeliveryAdmin(WrittenByRuns):
    list_display = ["destination", "at", "state", "matches", "answer"]
    list_filter = ["state"]


@admin.register(KeptMail)
class KeptMailAdmin(WrittenByRuns):
    """Mail that was written to people: who and when; its content is theirs alone."""

    list_display = ["recipient", "owner", "at"]
    fields = ["owner", "recipient", "message_id", "at"]


@admin.register(Feed)
class FeedAdmin(WrittenByRuns):
    """Feeds; their secret addresses are shown to nobody."""

    list_display = ["owner", "filter"]
    fields = ["owner", "filter", "uid"]


admin.site.register(BounceMailbox, OnlyShown)
