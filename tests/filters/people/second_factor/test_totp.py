"""Codes of an app, by a clock that is set."""

from __future__ import annotations

import pytest

from filters.people.models import AuthenticatorApp, User
from filters.people.second_factor import totp
from filters.site.work.crypto.encryption import decrypt
from filters.site.work.parts import services
from tapestry.core.clock import SECOND
from tests.support.people.second_factors import SECRET, code, give_app


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a clock of one instant that a test sets."""
    instant = [1_111_111_109 * SECOND]
    monkeypatch.setattr(totp, "wall_clock", lambda: instant[0])
    return instant


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")],
)
def test_codes_are_those_of_rfc_6238(seconds: int, expected: str) -> None:
    assert totp.code_at(SECRET, seconds // 30) == expected


@pytest.mark.parametrize(
    ("steps", "taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_clock_may_be_half_a_minute_off(
    alice: User, clock: list[int], steps: int, taken: bool
) -> None:
    give_app(alice)
    assert totp.take(alice, code(steps)) is taken


def test_no_code_is_taken_twice_nor_an_older_one_after_it(alice: User, clock: list[int]) -> None:
    give_app(alice)
    assert totp.take(alice, code()) and not totp.take(alice, code())
    assert not totp.take(alice, code(-1)) and totp.take(alice, code(1))
    clock[0] += 60 * SECOND
    assert totp.take(alice, code())


@pytest.mark.parametrize("text", ["", "12345", "１２３４５６", "1234567", "abcdef", "-12345"])
def test_what_is_no_code_is_wrong(alice: User, text: str) -> None:
    give_app(alice)
    assert not totp.take(alice, text)


def test_a_code_of_somebody_elses_app_is_wrong(alice: User, bob: User, clock: list[int]) -> None:
    give_app(alice)
    assert not totp.take(bob, code())


def test_the_secret_is_stored_encrypted(alice: User) -> None:
    totp.store(alice, SECRET, 7)
    app = AuthenticatorApp.objects.get(owner=alice)
    assert SECRET not in app.secret and decrypt(app.secret, services.data()) == SECRET
    assert app.last_step == 7


def test_the_address_is_one_that_apps_read() -> None:
    address = totp.address(SECRET, "terry", "x.org")
    assert address.startswith("otpauth://totp/Tapestry:terry%40x.org?")
    assert f"secret={SECRET}" in address and "period=30" in address
