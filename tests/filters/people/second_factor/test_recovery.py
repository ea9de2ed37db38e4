"""Recovery codes: each once, and only those of the last time they were made."""

from __future__ import annotations

from filters.people.models import RecoveryCode, User
from filters.people.second_factor import recovery


def test_each_is_taken_once_however_it_is_typed(alice: User) -> None:
    first, second, *others = recovery.make(alice)
    assert len({first, second, *others}) == 10
    assert recovery.take(alice, first) and not recovery.take(alice, first)
    assert recovery.take(alice, f" {second.replace('-', ' ').upper()} ")
    assert alice.recovery_codes.filter(used_at=None).count() == 8


def test_those_made_before_stop_working(alice: User) -> None:
    old = recovery.make(alice)
    recovery.make(alice)
    assert (
        not recovery.take(alice, old[0]) and alice.recovery_codes.filter(used_at=None).count() == 10
    )


def test_they_are_nobody_elses_and_not_stored(alice: User, bob: User) -> None:
    codes = recovery.make(alice)
    assert not recovery.take(bob, codes[0]) and not recovery.take(alice, "")
    stored = "".join(RecoveryCode.objects.values_list("digest", flat=True))
    assert not any(code.replace("-", "") in stored for code in codes)
