"""Mail addresses: what is sent nowhere until it is confirmed, and no more once it bounces."""

from __future__ import annotations

import logging

from filters.models import Address
from tapestry.core.log import event

log = logging.getLogger(__name__)


def set_problem(address: Address, problem: str) -> None:
    """Send nothing more to an address, and say why; what was to be sent waits."""
    Address.objects.filter(pk=address.pk).update(problem=problem[:1000])
    event(log, "address_problem", address=address.pk)
