"""The parts of a filter's text as chips: each can be removed or changed, also without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.test import Client

from filters.authoring.models import Filter
from filters.people.models import User

SignIn = Callable[[User], Client]

TEXT = "sent by Jones, two weeks old and (about x or about y)"
FORM = {"title": "Old ones", "mail": "existing", "visibility": "private", "text": TEXT}


def shown(page: str) -> list[str]:
    return re.findall(r'name="piece" value="([^"]*)"', page)


def test_each_part_is_a_chip_and_an_or_is_one(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = client.post("/filters/understand/", {"text": TEXT}).content.decode()
    assert shown(page) == ["from Jones", "two weeks old", "(about x or about y)"]
    assert 'value="from Jones and (about x or about y)"' in page
    assert "Remove two weeks old" in page
    assert not shown(client.post("/filters/understand/", {"text": "from x"}).content.decode())


def test_a_chip_is_removed_without_scripts(alice: User, as_user: SignIn) -> None:
    answer = as_user(alice).post("/filters/new/", {**FORM, "corrected": "from Jones"})
    page = answer.content.decode()
    assert answer.status_code == 200 and ">from Jones</textarea>" in page
    assert 'value="Old ones"' in page and not Filter.objects.exists()


def test_a_chip_is_changed_without_scripts(alice: User, as_user: SignIn) -> None:
    pieces = ["from Jones or from Mary", "", "about <b>"]
    given = {**FORM, "rejoin": "yes", "notation": "phrase", "piece": pieces}
    answer = as_user(alice).post("/filters/new/", given)
    page = answer.content.decode()
    assert answer.status_code == 200 and not Filter.objects.exists()
    assert ">(from Jones or from Mary) and about &lt;b&gt;</textarea>" in page
    assert shown(page) == ["(from Jones or from Mary)", "about &lt;b&gt;"]


def test_a_change_that_is_no_filter_is_shown_with_its_error(alice: User, as_user: SignIn) -> None:
    pieces = ["replies bye Jones", "about x"]
    given = {**FORM, "rejoin": "yes", "notation": "nonsense", "piece": pieces}
    page = as_user(alice).post("/filters/new/", given).content.decode()
    assert "<mark>bye</mark>" in page and not Filter.objects.exists()


def test_enter_in_a_changed_chip_changes_it_and_saves_nothing(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = client.post("/filters/understand/", {"text": TEXT}).content.decode()
    was = re.findall(r'name="was" value="([^"]*)"', page)
    assert was == shown(page)
    given = {**FORM, "notation": "phrase", "was": was, "piece": ["from Mary", *was[1:]]}
    page = client.post("/filters/new/", given).content.decode()  # as by the form's first button
    assert not Filter.objects.exists()
    assert ">from Mary and two weeks old and (about x or about y)</textarea>" in page
    assert shown(page)[0] == "from Mary" and 'value="Old ones"' in page
    given = {**FORM, "notation": "phrase", "was": was, "piece": was}
    assert client.post("/filters/new/", given).status_code == 302
    assert Filter.objects.get().text.startswith("sent by Jones")
