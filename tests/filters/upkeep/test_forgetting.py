"""Forgetting an audience: what was delivered goes with the mail; nobody else loses a thing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import OperationalError
from django.db.models import QuerySet
from django.test import Client

from filters.api.authentication import make_token
from filters.api.models import KeptAnswer
from filters.authoring.models import Filter, Reminder
from filters.compose.models import OutgoingMessage
from filters.delivery.mail.kept import keep
from filters.delivery.models import Delivery, Destination, KeptMail
from filters.inbox.appraisal import upkeep as appraisals
from filters.inbox.appraisal.upkeep import appraise, rules_changed
from filters.inbox.lists.cards import CopyKey, ensure_cards
from filters.inbox.models import (
    Appraisal,
    AppraiserRule,
    Card,
    FormerMute,
    Match,
    MessageState,
    Mute,
    TriageStep,
    TriageStepPart,
)
from filters.inbox.triage import lists, steps
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target
from filters.people.models import Export, User
from filters.reading.annotations.outbox import annotate, append_outbox
from filters.reading.models import OutboxAnnotation
from filters.runs.models import SetAside
from filters.runs.store.filter_store import DjangoClock
from filters.sources.models import MailboxAct, Source, SyncedFlags
from filters.upkeep import check_data, forgetting
from filters.upkeep.forgetting import forget, forget_old
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Message
from tapestry.tables.check.report import Report
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import Forgotten
from tapestry.tables.forget.forget import forget as forget_rows
from tapestry.tables.read.messages import annotations_on, message
from tapestry.tables.write.append import Receipt, append_annotations, append_messages
from tests.filters.jmap.conftest import Program
from tests.support.lists.live_filters import arrive, vote

EVERYBODY = ("public", "user:alice", "group:parc")


@pytest.mark.parametrize("all_goes", [True, False])
@pytest.mark.parametrize("part", ["check_tables", "check_predicate_index"])
def test_what_is_removed_while_all_is_checked_is_not_reported_as_lost(
    delivered: Tables, monkeypatch: pytest.MonkeyPatch, part: str, all_goes: bool
) -> None:
    check_part = getattr(check_data, part)

    def check_late(root: Path, report: Report) -> Any:
        forget("user:alice", None if all_goes else wall_clock() + DAY)
        return check_part(root, report)

    monkeypatch.setattr(check_data, part, check_late)
    assert [str(damage) for damage in check_data.check().damages] == []


def test_what_is_gone_from_the_tables_alone_is_reported_as_lost(delivered: Tables) -> None:
    forget_rows(delivered, DjangoClock(), "user:alice")
    (damage,) = check_data.check().damages
    assert "1 messages that filters found are not in the tables" in str(damage)


def test_private_mail_is_gone_with_all_that_was_delivered_of_it(delivered: Tables) -> None:
    report = forget("user:alice")
    assert (report.messages, report.matches, report.paused) == (1, 1, 1)
    assert message(delivered, "secret@example.org", EVERYBODY) is None
    assert not Card.objects.filter(audience="user:alice").exists()
    assert not OutboxAnnotation.objects.exists()
    assert not Source.objects.filter(active=True).exists()


def test_what_is_left_names_it_nowhere(delivered: Tables) -> None:
    forget("user:alice")
    match = Match.objects.get()
    assert (match.msgid, match.evidence) == ("plan@example.org", ["reply@example.org"])
    assert match.evidence_rows == [{"what": "r", "audience": "public"}]
    assert match.refreshed_at is None, "what remains is put in words anew"
    assert message(delivered, "plan@example.org", EVERYBODY) is not None
    assert message(delivered, "parc@example.org", EVERYBODY) is not None


@pytest.mark.parametrize("before", [None, DAY])
def test_no_row_names_a_message_that_is_forgotten(
    delivered: Tables, alice: User, before: int | None
) -> None:
    secret = Target("secret@example.org", "user:alice", "secret@example.org")
    found = Match.objects.filter(msgid=secret.msgid)
    for action in ("star", "unstar", "read", "unread"):
        steps.act(alice, ACTIONS[action], [secret])
    of = {"msgid": secret.msgid, "owner": alice}
    source = {"source": Source.objects.get(), "folder": "INBOX"}
    times = dict.fromkeys(("first", "until", "next_at", "made_at"), 1)
    Reminder.objects.create(**of, **times, audience="user:alice", every=1)
    MailboxAct.objects.create(**of, **source, acts="flag", filter=found.get().filter)
    MailboxAct.objects.create(**of, **source, acts="flag", wish="undo")
    SyncedFlags.objects.create(**source, uid=1, msgid=secret.msgid)
    naming = {
        model
        for model in apps.get_models()
        if any(field.name == "msgid" for field in model._meta.get_fields())
    }
    assert all(model._default_manager.filter(msgid=secret.msgid) for model in naming)
    forget("user:alice", before and wall_clock() + before)
    assert {m.__name__ for m in naming if m._default_manager.filter(msgid=secret.msgid)} == set()


def test_no_mute_names_a_thread_of_which_nothing_is_left(delivered: Tables, alice: User) -> None:
    secret = Target("secret@example.org", "user:alice", "secret@example.org")
    plan = Target("plan@example.org", "public", "plan@example.org")
    Card.objects.filter(msgid=secret.msgid).update(root=secret.root)
    Card.objects.filter(msgid=plan.msgid).update(root=plan.root)
    for name in ("mute", "unmute", "mute"):
        steps.act(alice, ACTIONS[name], [secret, plan])
    forget("user:alice")
    for model in (Mute, FormerMute):
        assert set(model._default_manager.values_list("root", flat=True)) == {plan.root}
    parts = TriageStepPart.objects.order_by("pk").values_list("muted", "unmuted")
    assert "secret" not in str(list(parts)) and str(list(parts)).count(plan.root) == 3
    assert steps.undo(alice, TriageStep.objects.get(action="unmute").pk)


@pytest.mark.parametrize("before", [None, DAY])
def test_programs_are_told_that_it_is_gone(mail: Tables, alice: User, before: int | None) -> None:
    secret = CopyKey("secret@example.org", "user:alice")
    ensure_cards(mail, [secret])
    steps.act(alice, ACTIONS["star"], [Target(*secret, secret.msgid)])
    call = Program(make_token(alice, "phone", ["jmap"], 7)[1])
    known = call("Email/query")
    state = call("Email/get", ids=known["ids"], properties=["id"])["state"]
    forget("user:alice", before and wall_clock() + before)
    assert call("Email/changes", sinceState=state)["destroyed"] == known["ids"]
    assert call.boxes()["Starred"]["totalEmails"] == 0


def test_an_answer_that_may_quote_it_is_kept_no_more_nor_is_its_call_made_again(
    delivered: Tables, alice: User
) -> None:
    secret, call = make_token(alice, "a", ["drafts"], 7)[1], Client()
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "k"}
    for status in (201, 409):
        given = {"text": "Yours"}
        answer = call.post("/api/v1/templates", given, "application/json", headers=headers)
        assert answer.status_code == status
        forget("user:alice")
        assert KeptAnswer.objects.get().content == "" and alice.templates.count() == 1


def test_what_may_quote_it_goes_with_it(delivered: Tables, alice: User, bob: User) -> None:
    subject = "“The plan”: it is too large"
    for owner in (alice, bob):
        Export.objects.create(owner=owner, asked_at=1, ended_at=1)
        box = Destination.objects.create(owner=owner, kind="mailbox", name="m")
        Delivery.objects.create(destination=box, key=owner.username, at=1, answer=subject)
    times = dict.fromkeys(("first_at", "last_at", "try_again_at"), 1)
    SetAside.objects.create(kind="step", key="x", traceback="KeyError: 'The plan'", **times)
    forget("user:alice")
    assert [export.owner for export in Export.objects.all()] == [bob]
    answers = Delivery.objects.values_list("destination__owner__username", "answer")
    assert dict(answers) == {"alice": "", "bob": subject}
    assert SetAside.objects.get().traceback == ""


def test_what_the_database_missed_is_made_good_by_the_next_call(
    delivered: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> int:
        raise OperationalError("the database is away")

    with monkeypatch.context() as broken, pytest.raises(OperationalError):
        broken.setattr(forgetting, "_forget_kept_mail", away)
        forget("user:alice")
    assert Match.objects.count() == 2
    Filter.objects.update(since=7)
    forget("user:alice")
    assert Match.objects.get().evidence == ["reply@example.org"]
    assert Filter.objects.get().since != 7, "it begins again"


def tags(tables: Tables) -> list[str | None]:
    said = annotations_on(tables, ["plan@example.org"], EVERYBODY)
    return [one.annotation.value for one in said if one.annotation.kind == "tag"]


def test_what_was_said_and_waits_is_not_appended_while_its_audience_is_forgotten(
    mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotate(alice, "plan@example.org", "public", "tag", value="divorce", private=True)

    def and_append(*given: Any) -> Forgotten:
        done = forget_rows(*given)
        append_outbox(mail)
        return done

    monkeypatch.setattr("filters.upkeep.forgetting.forget_rows", and_append)
    forget("user:alice")
    assert tags(mail) == []


def test_what_is_about_to_be_appended_is_not_once_it_is_forgotten(
    mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotate(alice, "plan@example.org", "public", "tag", value="divorce", private=True)
    annotate(alice, "plan@example.org", "public", "tag", value="work")

    def forgotten_first(*args: Any, **given: Any) -> Receipt:
        forget("user:alice")
        return append_annotations(*args, **given)

    monkeypatch.setattr("filters.reading.annotations.outbox.append_annotations", forgotten_first)
    assert append_outbox(mail) == 1
    assert tags(mail) == ["work"]


def test_votes_and_replies_that_are_gone_count_no_more(delivered: Tables, alice: User) -> None:
    vote(delivered, "alice", "plan", 1.0, "user:alice")
    vote(delivered, "dave", "plan")
    arrive(delivered, "mine", "plan", audience="user:alice")
    for weight, text in ((1, "per vote"), (10, "per reply")):
        AppraiserRule.objects.create(owner=alice, weight=weight, text=text)
    rules_changed(alice)
    appraise(delivered)
    plan = Appraisal.objects.filter(card__msgid="plan@example.org")
    before = plan.get().votes, plan.get().replies
    forget("user:alice")
    appraise(delivered)
    assert before == (plan.get().votes + 1, plan.get().replies + 2)
    assert plan.get().score == plan.get().votes + 10 * plan.get().replies


def test_nothing_is_appraised_while_something_is_forgotten(
    delivered: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = []
    count_again = appraisals.count_again

    def counted(owners: QuerySet[User]) -> None:
        with appraisals.alone() as acquired:
            free.append(acquired)
        count_again(owners)

    monkeypatch.setattr(appraisals, "count_again", counted)
    forget("user:alice")
    with appraisals.alone() as acquired:
        assert [*free, acquired] == [False, True]


def test_the_command_says_how_much_it_was(delivered: Tables, capsys) -> None:
    much = "1 messages, 0 originals, 0 annotations and 1 deliveries"
    call_command("forget", "--audience", "user:alice", "--dry-run")
    assert f"Nothing is removed. {much} would be." in capsys.readouterr().out
    assert message(delivered, "secret@example.org", EVERYBODY) is not None
    call_command("forget", "--audience", "user:alice", "--dry-run", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "messages": 1, "annotations": 0, "originals": 0, "matches": 1, "paused": 1, "dry_run": True
    }  # fmt: skip
    call_command("forget", "--audience", "user:alice", "--yes")
    assert capsys.readouterr().out.startswith(f"{much} removed; 1 sources paused")


def test_mail_is_kept_for_as_long_as_its_audience_says(delivered: Tables, settings: Any) -> None:
    settings.RETENTION = {"user:alice": 3, "public": 30}
    for days, gone in ((0, [0, 0]), (4, [1, 0])):
        present = wall_clock() + days * DAY
        assert [forget_old(audience, present).messages for audience in settings.RETENTION] == gone
    assert Source.objects.filter(active=True).exists(), "new mail goes on coming"
    assert Match.objects.get().msgid == "plan@example.org"


def test_a_group_of_any_name_may_be_forgotten(tables: Tables, db: None) -> None:
    named = "group:Human Resources: 50% + friends"
    append_messages(tables, DjangoClock(), [Message("a@x", audience=named)])
    assert forget(named).messages == 1
    assert message(tables, "a@x", (named,)) is None


@pytest.mark.parametrize("before", [None, DAY])
def test_what_others_did_can_be_undone_and_only_what_names_the_forgotten_cannot(
    delivered: Tables, alice: User, bob: User, before: int | None
) -> None:
    secret = Target("secret@example.org", "user:alice", "secret@example.org")
    plan = Target("plan@example.org", "public", "plan@example.org")
    done = {
        owner: steps.act(owner, ACTIONS["done"], targets)
        for owner, targets in ((alice, [secret, plan]), (bob, [plan]))
    }
    forget("user:alice", before and wall_clock() + before)
    assert "secret" not in str(list(TriageStepPart.objects.values_list("states", flat=True)))
    for owner, step in done.items():
        left = MessageState.objects.get(owner=owner)
        assert (left.msgid, left.done_at is None) == (plan.msgid, False)
        assert steps.undo(owner, step.pk)
        assert not MessageState.objects.filter(owner=owner).exclude(done_at=None).exists()
    assert not MessageState.objects.filter(msgid=secret.msgid).exists()


@pytest.mark.parametrize("before", [None, DAY])
def test_what_was_done_stays_where_another_copy_is_seen(
    tables: Tables, alice: User, bob: User, before: int | None
) -> None:
    for audience in ("group:parc", "user:alice"):
        append_messages(tables, DjangoClock(), [Message("m", subject="m", audience=audience)])
    ensure_cards(tables, [CopyKey("m", "group:parc")])
    target = Target("m", "group:parc", "m")
    for owner in (alice, bob):
        steps.act(owner, ACTIONS["star"], [target])
    forget("group:parc", before and wall_clock() + before)
    left = MessageState.objects.get()
    assert (left.owner, left.audience, left.starred_at is None) == (alice, "user:alice", False)
    assert [state.msgid for state in lists.states_of(alice, lists.SHELVES["starred"])] == ["m"]
    assert not TriageStepPart.objects.exclude(states=[]).exists()


@pytest.mark.usefixtures("mail")
@pytest.mark.parametrize(
    ("audience", "left"),
    [("user:alice", ["bob"]), ("group:parc", ["alice"]), ("public", [])],
)
def test_kept_mail_of_those_who_saw_it_is_gone(
    alice: User, bob: User, audience: str, left: list[str]
) -> None:
    bob.groups.set([Group.objects.get_or_create(name="parc")[0]])
    alice.groups.clear()
    for owner in (alice, bob):
        for at in (5, 9):
            KeptMail.objects.create(
                owner=owner, message_id=f"<{at}@x>", raw=b"The plan", at=at, audiences="\npublic\n"
            )
    everybody = KeptMail.objects.order_by("pk")
    forget(audience, before=9)
    assert {kept.owner.username for kept in everybody.filter(at=5)} == set(left)
    assert everybody.filter(at=9).count() == 2
    forget(audience)
    assert {kept.owner.username for kept in everybody} == set(left)


@pytest.mark.usefixtures("mail")
def test_kept_mail_of_those_who_have_left_a_group_is_gone(alice: User, bob: User) -> None:
    """The group itself may be gone before its mail."""
    parc = Group.objects.get_or_create(name="parc")[0]
    bob.groups.set([parc])
    alice.groups.clear()
    for owner in (alice, bob):
        assert keep(b"Message-ID: <1@x>\n\nThe plan", "a@x.org", owner)
        Export.objects.create(owner=owner, asked_at=1, ended_at=1)
    KeptMail.objects.create(owner=alice, message_id="<old@x>", raw=b"The plan", at=1)
    parc.delete()
    forget("group:parc")
    assert [kept.owner for kept in KeptMail.objects.all()] == [alice]
    assert not Export.objects.exists()


@pytest.mark.usefixtures("mail")
@pytest.mark.parametrize(
    ("audience", "left"),
    [
        ("user:alice", ["answer to parc", "being sent"]),
        ("group:parc", ["of alice", "being sent"]),
        ("public", ["of alice", "answer to parc", "being sent"]),
    ],
)
def test_drafts_and_what_was_sent_go_where_they_may_quote_it(
    alice: User, bob: User, audience: str, left: list[str]
) -> None:
    sending = OutgoingMessage.State.QUEUED
    for subject, owner, others in (
        ("of alice", alice, {}),
        ("answer to parc", bob, {"parent": "m", "parent_audience": "group:parc"}),
        ("being sent", alice, {"parent_audience": "group:parc", "state": sending}),
    ):
        OutgoingMessage.objects.create(owner=owner, subject=subject, changed_at=5, **others)
    forget(audience, before=5)
    assert OutgoingMessage.objects.count() == 3
    forget(audience)
    kept = OutgoingMessage.objects.order_by("pk").values_list("subject", flat=True)
    assert list(kept) == left
