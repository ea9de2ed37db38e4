"""Recovery codes: each stands for the second factor once; they are shown when they are made."""

from __future__ import annotations

import secrets

from django.db import transaction

from filters.people.models import RecoveryCode, User
from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.clock import wall_clock

NUMBER = 10
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without those that look like others."""

LENGTH = 12
"""Letters of a code: 59 bits."""


@transaction.atomic
def make(owner: User) -> list[str]:
    """Make new codes in place of all older ones, and return them: they are not kept."""
    codes = ["".join(secrets.choice(LETTERS) for _ in range(LENGTH)) for _ in range(NUMBER)]
    owner.recovery_codes.all().delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(owner=owner, digest=_digest(owner, code)) for code in codes
    )
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]


def take(owner: User, code: str) -> bool:
    """Tell whether a code is one of the person's that is left; it is used up then."""
    plain = "".join(code.lower().replace("-", "").split())
    unused = RecoveryCode.objects.filter(owner=owner, digest=_digest(owner, plain), used_at=None)
    return unused.update(used_at=wall_clock()) == 1


def _digest(owner: User, code: str) -> str:
    return keyed_digest("recovery", f"{owner.pk}:{code}")
