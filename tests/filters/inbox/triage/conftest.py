"""A browser before lists of messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, installed, letters

SignIn = Callable[[User], Client]


@pytest.fixture
def client(tables: Tables, alice: User, as_user: SignIn) -> Client:
    """Alice's browser: two filters have found a and b, one of them c of a's thread too."""
    letters(tables, "a", "b")
    letters(tables, "c", root="a")
    find(tables, installed(alice, "jones"), "a", "b", "c")
    find(tables, installed(alice, "plans"), "a", "b")
    return as_user(alice)
