"""Claims: one worker holds a destination, and what it claimed is free again when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.db import OperationalError, connection

from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.dispatch import claims, holder
from filters.delivery.dispatch.claims import Attempt
from filters.delivery.models import Address, Delivery, Destination
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.deliver.batch import Batch, Outcome
from tests.support.delivery.recorded_way import Recorder, Store, change_way
from tests.support.delivery.turn import fresh, turn


def test_two_workers_never_hold_one_destination(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    release()
    with holder.claiming() as name, holder.claiming() as other:
        [held] = claims.claim(name, [hook.pk])
        assert claims.claim(other, [hook.pk]) == []
        assert claims.free_abandoned() == 0, "this process is alive"
        assert claims.due(["webhook"], 100) == []
        done = [Attempt(held, Outcome("delivered"))]
        assert claims.confirm(done) == {hook.pk}
        assert claims.confirm(done) == set(), "it is held no more"


def test_an_address_that_is_changed_as_it_is_claimed_must_be_confirmed(
    jones: Filter, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, other = (Address.objects.create(owner=jones.owner, email=f"{n}@x.org") for n in "ab")
    Address.objects.filter(pk=ours.pk).update(confirmed_at=1)
    digest = Destination.objects.create(owner=jones.owner, kind="digest", name="d", address=ours)
    store(jones, "one")
    release()

    def edit_meanwhile() -> int:
        Destination.objects.filter(pk=digest.pk).update(address=other)
        return wall_clock()

    with holder.claiming() as name, monkeypatch.context() as patched:
        patched.setattr(claims, "wall_clock", edit_meanwhile)
        assert claims.claim(name, [digest.pk]) == []
    assert fresh(digest).holder == "" and digest.due_at and digest.claimed_until is None
    with holder.claiming() as name:
        assert claims.claim(name, [digest.pk]) == []
        Address.objects.filter(pk=other.pk).update(confirmed_at=1)
        [claim] = claims.claim(name, [digest.pk])
        assert claim.destination == digest


def test_claims_confirmed_together_are_fenced_each(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    other = Destination.objects.create(owner=jones.owner, kind="webhook", name="other")
    store(jones, "one")
    release()
    with holder.claiming() as name:
        claimed = claims.claim(name, [hook.pk, other.pk])
        Destination.objects.filter(pk=hook.pk).update(holder="another:1")
        done = [Attempt(claim, Outcome("delivered"), 1) for claim in claimed]
        assert claims.confirm(done) == {other.pk}
    assert (fresh(hook).cursor, hook.claimed_until, hook.holder) == (0, 1, "another:1")
    assert (fresh(other).cursor, other.claimed_until, other.holder) == (1, None, "")
    assert [row.destination for row in Delivery.objects.all()] == [other]


def test_what_was_sent_is_confirmed_when_the_worker_is_told_to_end(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Destination.objects.create(owner=jones.owner, kind="webhook", name="other")
    store(jones, "one")

    def send(destination: Destination, batch: Batch) -> Outcome:
        if way.batches:
            raise SystemExit
        return Recorder.send(way, destination, batch)

    change_way(monkeypatch, "webhook", send=send, preview=way.preview, most=3)
    with pytest.raises(SystemExit):
        turn()
    assert sorted([fresh(hook).cursor, fresh(other).cursor]) == [0, 1]


def test_a_claim_that_an_error_left_behind_is_free_again(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(jones, "one")
    with monkeypatch.context() as patch, pytest.raises(OperationalError):
        patch.setattr(claims, "confirm", _no_database)
        turn()
    assert fresh(hook).holder
    store(jones, "two")
    turn()
    keys = [batch.key for batch in way.batches]
    assert keys[0] == keys[1] != keys[2], "what was sent is repeated as the same delivery"


def _no_database(*_: object) -> bool:
    raise OperationalError("database is locked")


@pytest.mark.django_db(transaction=True)
def test_the_claim_of_a_process_that_ends_is_free_again(
    jones: Filter, hook: Destination, store: Store, way: Recorder, data: Path
) -> None:
    store(jones, "one")
    release()
    ended = f"{'0' * 32}:1"
    Destination.objects.update(holder=ended, claimed_until=1, due_at=None)
    assert not holder.is_alive(ended)
    assert claims.free_abandoned() == 1
    store(jones, "two")
    turn()
    assert way.delivered == [("insert", "one"), ("insert", "two")]
    assert len(way.batches) == 2, "what had been claimed is a delivery of its own"


@pytest.mark.sqlite
def test_the_lock_of_a_holder_ends_with_its_process(data: Path, settings: object) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from tapestry.core.files.file_lock import shared_lock\n"
        "with shared_lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    path = data / "run" / "deliveries" / "abc.lock"
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "held\n"
    assert holder.is_alive("abc:4")
    process.kill()
    process.wait()
    process.stdout.close()
    process.stdin.close()
    assert not holder.is_alive("abc:4")


def test_the_newest_do_not_wait_behind_all_that_was_due_before(
    alice: User, hook: Destination
) -> None:
    now = wall_clock()
    for number in range(5):
        Destination.objects.create(
            owner=alice, kind="webhook", name=f"{number}", due_at=now - MINUTE + number
        )
    Destination.objects.filter(pk=hook.pk).update(due_at=now)
    keys = claims.due(["webhook"], 2)
    assert keys[0] == hook.pk and len(keys) == 2
    assert len(claims.due(["webhook"], 100)) == 6
    assert claims.due(["digest"], 100) == []


@pytest.mark.django_db(transaction=True)
def test_one_slow_server_does_not_hold_up_the_others(
    store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    """Four threads serve four destinations at the same time: each waits for all the others."""
    together = threading.Barrier(4, timeout=240)

    def send(destination: Destination, batch: Batch) -> Outcome:
        together.wait()
        return Outcome("delivered")

    change_way(monkeypatch, "webhook", send=send, preview=way.preview)
    for number in range(4):
        owner = User.objects.create_user(f"u{number}")
        store(Filter.objects.create(owner=owner, name="f", text="x"), f"m{number}")
        Destination.objects.create(owner=owner, kind="webhook", name="h")
    release()
    holder.process_name()

    def work() -> None:
        try:
            while Destination.objects.filter(cursor=0, holder="").exists():
                sending.deliver(["webhook"], 1)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not together.broken
    assert not Destination.objects.filter(cursor=0).exists()


def test_one_person_has_few_destinations_served_at_a_time(
    alice: User, bob: User, hook: Destination
) -> None:
    now = wall_clock()
    for number in range(3):
        Destination.objects.create(owner=alice, kind="webhook", name=f"{number}", due_at=now - HOUR)
    theirs = Destination.objects.create(owner=bob, kind="webhook", name="b", due_at=now)
    Destination.objects.filter(pk=hook.pk).update(holder="somebody:1")
    assert len(claims.due(["webhook"], 9, 2)) == 4
    assert claims.due(["webhook"], 9, 1) == [theirs.pk]


def test_files_of_ended_processes_are_deleted_by_several_at_once(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = data / "run" / "deliveries"
    directory.mkdir(parents=True, exist_ok=True)
    ended = [directory / f"{name}.lock" for name in ("one", "two")]
    for path in ended:
        path.touch()
        os.utime(path, (1, 1))

    def is_held(_: Path) -> bool:
        for path in ended:
            path.unlink(missing_ok=True)
        return False

    monkeypatch.setattr(holder, "is_site_lock_held", is_held)
    holder.remove_ended()
    assert not any(path.exists() for path in ended)
