"""“Only for me”: each form says it for itself, and what is drawn again forgets no tick."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from filters.people.models import User
from filters.reading.annotations.forms import KINDS
from filters.reading.annotations.outbox import annotate
from filters.reading.models import OutboxAnnotation
from tapestry.tables.delta.log import Tables

SignIn = Callable[[User], Client]

PLAN = "plan@example.org"
FORM = re.compile(r"<form.*?</form>", re.DOTALL)
KIND = re.compile(r'name="kind" value="(\w+)"')
BOX = re.compile(r'name="private" value="(\w+)" id="only-me-\w+"( checked)?')
SEEN = re.compile(r"seen=(\w+)")
CONTENT = {"vote": {"number": "1"}, "tag": {"value": "later"}, "note": {"value": "Mine."}}
CONTENT["priority"] = {"number": "7"}


def boxes(page: str) -> dict[str, str]:
    """Return the value of the box of each form on a page that has one, by the form's kind."""
    forms = [form for form in FORM.findall(page) if KIND.search(form)]
    return {KIND.findall(form)[0]: box[1] for form in forms if (box := BOX.search(form))}


def ticked(page: str) -> set[str]:
    return {kind for kind, checked in BOX.findall(page) if checked}


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_says_it_for_itself(mail: Tables, bob: User, as_user: SignIn, kind: str) -> None:
    """Without JavaScript a browser sends what is inside the form, and nothing else."""
    client = as_user(bob)
    box = boxes(client.get("/message/", {"id": PLAN}).content.decode())[kind]
    given = {"id": PLAN, "audience": "public", "kind": kind, **CONTENT[kind]}
    assert client.post("/message/annotate/", given | {"private": box}).status_code == 302
    assert OutboxAnnotation.objects.get().audience == "user:bob"


def test_the_tick_of_another_form_stays_there(mail: Tables, bob: User, as_user: SignIn) -> None:
    given = {"id": PLAN, "kind": "tag", "value": "later", "private": ["note", "priority"]}
    answer = as_user(bob).post("/message/annotate/", given, headers={"HX-Request": "true"})
    assert OutboxAnnotation.objects.get().audience == "public"
    assert ticked(answer.content.decode()) == {"note", "priority"}


@pytest.mark.parametrize("value", ["", "x" * 101])
def test_what_is_refused_keeps_its_tick(mail: Tables, bob: User, as_user: SignIn, value) -> None:
    given = {"id": PLAN, "kind": "tag", "value": value, "private": "tag"}
    for headers in ({"HX-Request": "true"}, {}):
        answer = as_user(bob).post("/message/annotate/", given, headers=headers)
        assert ticked(answer.content.decode()) == {"tag"}


def test_what_others_say_unticks_nothing(mail: Tables, bob, carol, as_user: SignIn) -> None:
    client = as_user(bob)
    given = {"id": PLAN, "in": "public", "private": ["tag", "note"]}
    seen = client.get("/message/", {"id": PLAN}).context["reading"].mark
    annotate(carol, PLAN, "public", "tag", value="good")
    given |= {"seen": seen}
    answer = client.get("/message/standing/", given, headers={"HX-Request": "true"})
    assert "good" in answer.content.decode() and ticked(answer.content.decode()) == {"tag", "note"}


def test_ones_own_tag_is_seen_already(mail: Tables, bob: User, as_user: SignIn) -> None:
    """What is drawn after it asks for what comes later, not for the same once more."""
    client, htmx = as_user(bob), {"HX-Request": "true"}
    given = {"id": PLAN, "kind": "tag", "value": "later"}
    page = client.post("/message/annotate/", given, headers=htmx).content.decode()
    assert 'id="standing-of"' in page
    query = {"id": PLAN, "in": "public", "seen": SEEN.findall(page)[0]}
    assert client.get("/message/standing/", query, headers=htmx).status_code == 204


def test_nobody_else_sees_it_so_no_form_asks(mail: Tables, alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/message/", {"id": "secret@example.org"}).content.decode()
    assert boxes(page) == {} and "visible only to you" in page
    assert 'hx-include="#standing input[name=private]"' not in page, "htmx would find nothing"
