"""Alice, who may write from an address that she has confirmed, and a letter of mail to answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.delivery.models import Address
from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.support.delivery.composed import LETTER, put


@pytest.fixture
def letter(alice: User, tables: Tables) -> str:
    """A letter to alice alone."""
    return put(tables, LETTER)


@pytest.fixture
def writer(alice: User) -> User:
    Address.objects.create(owner=alice, email="alice@example.org", confirmed_at=1)
    return alice


@pytest.fixture
def browser(writer: User, as_user: Callable[[User], Client]) -> Client:
    return as_user(writer)
