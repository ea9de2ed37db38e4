"""Aggregates that people define in SQL: saved, used by name, shared, changed, tried on mail."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Aggregate, Filter
from filters.authoring.own_aggregates import delete, save
from filters.authoring.results.aggregate_values import values_of
from filters.inbox.models import Match
from filters.people.membership.export.archive import write
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Annotation
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations

SignIn = Callable[[User], Client]

DECAYED = """\
CREATE AGGREGATE decayed(x NUMBER, age DURATION) RETURNS NUMBER
  STATE (s NUMBER) INITIALIZE (x) ITERATE (s * 0.5 + x) TERMINATE s"""
VOTES = "a.number, a.ts - m.received IN annotations: a.msgid = m.msgid AND a.kind = 'vote'"
PLAN = "plan@example.org"


def vote(tables: Tables, annid: str, number: float, owner: str = "dan", **more: str) -> None:
    row = Annotation(annid, PLAN, owner, more.get("kind", "vote"), more.get("value"), number)
    append_annotations(tables, DjangoClock(), [row])


def found_by(filter_: Filter) -> set[str]:
    rounds.run_round()
    live = Match.objects.filter(filter=filter_, retracted_at=None)
    return set(live.values_list("msgid", flat=True))


@pytest.mark.usefixtures("engine")
def test_a_filter_uses_an_aggregate_by_its_name_and_follows_its_change(
    mail: Tables, alice: User, bob: User
) -> None:
    save(alice, DECAYED, visibility="shared")
    own = lifecycle.install(alice, f"decayed({VOTES}) > 1.4", name="own", visibility="shared")
    his = lifecycle.install(bob, f"alice.decayed({VOTES}) > 1.4", name="his", mode="live")
    over = lifecycle.install(bob, "in alice's own", name="over")
    assert not found_by(own)
    vote(mail, "v-2", 1.0)  # 0.5 + 1
    assert found_by(own) == found_by(his) == {PLAN}
    assert "0.5" in own.tql and own.display_tql.startswith("decayed(a.number, ")
    save(alice, DECAYED.replace("0.5", "0.1"), visibility="shared", replaces="decayed")
    for filter_ in (own, his, over):
        filter_.refresh_from_db()
        assert "0.1" in filter_.tql and "0.5" not in filter_.tql
    assert not found_by(his) and found_by(own) == {PLAN}
    vote(mail, "v-3", 1.4)
    assert found_by(his) == {PLAN}
    save(alice, DECAYED, replaces="decayed")
    his.refresh_from_db()
    assert his.tql == "" and "There is no aggregate decayed() of alice’s" in his.error
    delete(Aggregate.objects.get())
    own.refresh_from_db()
    assert "There is no aggregate decayed()" in own.error
    save(alice, DECAYED, visibility="shared")
    for filter_ in (own, his):
        filter_.refresh_from_db()
        assert not filter_.error and "0.5" in filter_.tql


def test_a_private_aggregate_is_not_there_for_others(alice: User, bob: User) -> None:
    save(alice, DECAYED)
    for text in (f"alice.decayed({VOTES}) > 1", f"decayed({VOTES}) > 1"):
        with pytest.raises(TapestryError, match="that you may use"):
            lifecycle.install(bob, text)


def test_what_is_wrong_is_said_with_its_place(alice: User) -> None:
    save(alice, DECAYED)
    wrong = {
        DECAYED: "You have an aggregate “decayed” already",
        DECAYED.replace("s * 0.5", "t * 0.5"): "“t” is not known in the definition. (line 2",
        DECAYED.replace("decayed", "count"): "“count” is a word of the language",
        DECAYED.replace(" decayed", ""): "The aggregate needs a name",
        DECAYED.replace("CREATE ", "") + " x": "“x” stands where the end of the definition",
    }
    for text, sentence in wrong.items():
        with pytest.raises(TapestryError) as caught:
            save(alice, text)
        assert sentence in caught.value.render()
    for of, place in {
        "a.numbr IN annotations: a.msgid = m.msgid": (0, 7),
        "a.owner": (0, 7),
    }.items():
        with pytest.raises(TapestryError) as caught:
            values_of(alice, DECAYED.replace(", age DURATION", ""), of)
        span = caught.value.span
        assert span and caught.value.text == of and (span.start, span.end) == place


OF = [
    "",
    VOTES,
    "a.number, a.ts - m.received IN annotations: a.msgid = m.msgid AND a.owner <> 'dan'",
    "a.number * length(m.subject), a.ts - m.ts, a IN annotations: a.msgid = m.msgid",
    "length(r.body), r.received - m.received: r.inreplyto = m.msgid",
]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("of", OF)
def test_values_are_those_by_which_filters_judge(mail: Tables, alice: User, of: str) -> None:
    vote(mail, "v-2", 3.0)
    vote(mail, "v-3", -0.25, "eve")
    vote(mail, "v-4", 8.0, "eve")
    vote(mail, "v-5", 0.0, "eve", kind="retraction", value="v-4")
    save(alice, DECAYED)
    of, shown = values_of(alice, DECAYED, of)
    values = {line.card.msgid: line.value for line in shown}
    assert PLAN in values
    for place, (op, meets) in enumerate({"=": True, "<>": False}.items()):
        text = f"decayed({of}) {op} {values[PLAN]}"
        filter_ = lifecycle.install(alice, text, name=f"f{place}", mode="live")
        assert (PLAN in found_by(filter_)) is meets


def test_of_a_condition_on_what_surrounds_rows_no_value_is_shown(mail: Tables, alice: User) -> None:
    around = f"{VOTES} AND EXISTS (r: r.inreplyto = m.msgid)"
    for of in (
        around,
        "a.number, a.ts - m.ts IN annotations: a.owner = 'joe'",
        f"{VOTES}) > 1 OR (TRUE",
    ):
        with pytest.raises(TapestryError):
            values_of(alice, DECAYED, of)


def test_the_page_tries_saves_changes_and_deletes(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    client, his = as_user(alice), as_user(bob)
    page = client.get("/aggregates/")
    assert "CREATE AGGREGATE decayed" in page.context["text"]
    tried = client.post("/aggregates/", {"text": DECAYED, "act": "try"})
    assert [shown.value for shown in tried.context["values"]] == ["1.0"]
    assert tried.context["use"].startswith("decayed(a.number, a.ts - m.received IN annotations")
    assert not Aggregate.objects.exists()
    sent = {"text": DECAYED, "act": "save", "visibility": "shared"}
    assert client.post("/aggregates/", sent).status_code == 302
    assert client.post("/aggregates/", sent).status_code == 400, "there is one of that name"
    assert client.get("/aggregates/?name=decayed").context["text"] == DECAYED
    assert his.get("/aggregates/?name=decayed").status_code == 404
    assert "alice.decayed" in his.get("/aggregates/").content.decode()
    changed = sent | {"name": "decayed", "text": DECAYED.replace("0.5", "0.7")}
    assert client.post("/aggregates/", changed).status_code == 302
    lifecycle.install(bob, f"alice.decayed({VOTES}) > 1")
    assert "One other person uses it." in client.get("/aggregates/").content.decode()
    assert his.post("/aggregates/", {"name": "decayed", "act": "delete"}).status_code == 404
    gone = client.post("/aggregates/", {"name": "decayed", "act": "delete"})
    assert gone.context["text"] == changed["text"] and not Aggregate.objects.exists()
    assert client.post("/aggregates/", {"text": "CREATE", "act": "try"}).status_code == 400


def test_the_export_has_the_definitions(mail: Tables, alice: User, tmp_path: Path) -> None:
    save(alice, DECAYED)
    write(alice, tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.read("aggregates.sql").decode() == f"{DECAYED};\n"
