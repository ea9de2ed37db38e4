"""What raises an error is set aside: by a name, counted, shown, and tried again."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from filters.authoring.models import Filter, PendingWindow
from filters.people.models import User
from filters.runs.models import SetAside
from filters.runs.tasks import compact
from filters.site.work import set_aside
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError
from tests.support.faults.set_asides import Planted

KIND = SetAside.Kind.STEP


def served(work: Callable[[int], None], items: range = range(4)) -> list[int]:
    """Serve the items that do not wait; return those that were served."""
    aside = set_aside.of(KIND)
    done = []
    for item in items:
        if not aside.waits(item):
            with aside.guard(item):
                work(item)
                done.append(item)
    return done


def broken(item: int) -> None:
    if item == 2:
        raise LookupError("secret")


@pytest.fixture(autouse=True)
def planted(set_asides: Planted, db: None) -> list[Any]:
    return set_asides.expect()


def test_one_that_fails_costs_no_other_and_waits(planted: list[Any]) -> None:
    assert served(broken) == [0, 1, 3]
    assert served(lambda _: None) == [0, 1, 3]
    row = SetAside.objects.get()
    assert (row.kind, row.key, row.attempts) == ("step", "2", 1)
    assert row.error_class == "builtins.LookupError"
    assert "in broken" in row.traceback and "secret" not in row.reason
    assert str(row.pk) in row.reason
    assert len(planted) == 1


def test_it_is_tried_again_and_forgotten_once_it_is_done() -> None:
    served(broken)
    set_aside.try_now()
    assert served(broken) == [0, 1, 3]
    first = SetAside.objects.get()
    assert first.attempts == 2 and first.try_again_at - first.last_at == 60_000_000
    set_aside.try_now(first.pk)
    assert served(lambda _: None) == [0, 1, 2, 3]
    assert not SetAside.objects.exists()


def test_what_is_set_aside_is_tried_again_though_the_clock_was_set_back() -> None:
    set_aside.add(KIND, "a", KeyError())
    assert set_aside.of(KIND).waits("a")
    SetAside.objects.update(try_again_at=wall_clock() + 24 * HOUR)
    assert not set_aside.of(KIND).waits("a")


def test_another_version_of_the_program_tries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    served(broken)
    monkeypatch.setattr(set_aside, "program_version", lambda: "another")
    assert served(lambda _: None) == [0, 1, 2, 3]


def test_what_a_person_can_mend_is_said_as_it_is() -> None:
    def refused(_: int) -> None:
        raise TapestryError("The server has no such folder.")

    served(refused, range(1))
    assert set_aside.reason_of(KIND, 0) == "The server has no such folder."
    assert set_aside.reason_of(KIND, 1) == ""


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EMFILE, "Too many open files"),
        OSError(errno.ENOTCONN, "Transport endpoint is not connected"),
        OSError(errno.ESTALE, "Stale file handle"),
        OSError(getattr(errno, "EBADFD", errno.EIO), "File descriptor in bad state"),
        DamagedFileError("a", "it is empty"),
        FileNotFoundError("a"),
        OperationalError("the database is gone"),
    ],
    ids=repr,
)
def test_the_surroundings_are_the_fault_of_none(error: Exception) -> None:
    def fail(_: int) -> None:
        raise error

    with pytest.raises(type(error)):
        served(fail)
    assert not SetAside.objects.exists()


def test_a_statement_that_cannot_be_is_a_fault_of_its_own() -> None:
    def fail(_: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM nowhere")

    if connection.vendor == "sqlite":
        assert served(fail, range(1)) == []
        assert SetAside.objects.get().error_class.endswith("OperationalError")


def test_what_is_done_elsewhere_as_it_is_set_aside_is_still_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def clear(*_: object, **__: object) -> None:
        SetAside.objects.all().delete()

    monkeypatch.setattr(set_aside, "event", clear)
    row = set_aside.record(KIND, 1, LookupError())
    assert f"(number {row.pk})" in row.reason and not SetAside.objects.exists()


def test_what_is_gone_is_forgotten(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Filter.objects.create(owner=alice, name="there", text="x")
    window = PendingWindow.objects.create(filter=there, tql="x", since=1, until=2)
    kept = {f"{there.pk}", f"{there.pk}/{window.pk}"}
    for key in (*kept, f"{there.pk}/{window.pk + 1}", there.pk + 1):
        set_aside.add(SetAside.Kind.FILTER, key, KeyError())
    set_aside.add(KIND, "old", KeyError())
    set_aside.prune()
    assert SetAside.objects.count() == 3
    monkeypatch.setattr(set_aside, "FORGOTTEN", -1)
    compact()
    assert set(SetAside.objects.values_list("key", flat=True)) == kept


@pytest.mark.parametrize("part", ["release", "meaning"])
def test_what_else_of_a_filter_is_set_aside_is_forgotten_with_it(alice: User, part: str) -> None:
    there = Filter.objects.create(owner=alice, name="there", text="x")
    for key in (there.pk, there.pk + 1):
        set_aside.add(SetAside.Kind.FILTER, f"{key}/{part}", KeyError())
    assert set_aside.prune() == 1
    assert SetAside.objects.get().key == f"{there.pk}/{part}"


def test_the_operator_sees_the_count_and_the_traceback(
    alice: User, as_user: Callable[[User], Client]
) -> None:
    filter_ = Filter.objects.create(owner=alice, name="mine", text="about divorce")
    try:
        raise KeyError("divorce")
    except KeyError as error:
        number = set_aside.add(SetAside.Kind.FILTER, filter_.pk, error).pk
    part = Client().get("/healthz").json()["parts"]["set_aside"]
    assert part == {"ok": True, "says": "1 set aside; the operator's page says why"}
    staff = as_user(User.objects.create_superuser("root", "root@example.org", "secret"))
    page = staff.get("/operator/").content.decode()
    assert f"/operator/set-aside/{number}/" in page
    assert "alice.mine" in page and "builtins.KeyError" in page and "divorce" not in page
    address = f"/operator/set-aside/{number}/"
    assert "Traceback" in staff.get(address).content.decode()
    assert as_user(alice).get(address).status_code == 404
    assert staff.post(address).status_code == 302
    assert not set_aside.of(SetAside.Kind.FILTER).waits(filter_.pk)
