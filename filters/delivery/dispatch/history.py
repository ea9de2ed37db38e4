"""What is kept of past deliveries: the latest of each destination, and those of the last week."""

from __future__ import annotations

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from filters.delivery.models import Delivery, KeptMail
from filters.site.work.db.batching import in_batches
from tapestry.core.clock import DAY

SHOWN = 10
"""Deliveries of a destination that are always kept, and shown on its page."""

KEPT = 7 * DAY
"""How long all deliveries are kept: a flood is measured against the week before it."""

MAIL_KEPT = 90 * DAY
"""How long mail is kept that was written to people of a site without a mail server."""


def prune(now: int) -> int:
    """Delete older deliveries and kept mail; return how many deliveries those were."""
    KeptMail.objects.filter(at__lt=now - MAIL_KEPT).delete()
    place = Window(RowNumber(), partition_by="destination", order_by=F("pk").desc())
    ranked = Delivery.objects.order_by().annotate(place=place).values_list("pk", "place", "at")
    old = [pk for pk, rank, at in ranked.iterator() if rank > SHOWN and at < now - KEPT]
    for rows in in_batches(Delivery.objects.order_by(), old):
        rows.delete()
    return len(old)
