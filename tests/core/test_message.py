"""Messages and annotations are values, and public unless said otherwise."""

import dataclasses

import pytest

from tapestry.core.message import PUBLIC, Annotation, Message, audiences_of
from tapestry.core.schema import ANNOTATIONS, COLUMNS, KEY_COLUMN, MESSAGES, Type


def test_a_filter_sees_what_is_public_its_owners_and_their_groups():
    assert audiences_of("terry") == (PUBLIC, "user:terry")
    assert audiences_of("terry", ("parc", "chess")) == (
        PUBLIC,
        "user:terry",
        "group:parc",
        "group:chess",
    )


def test_what_is_not_known_of_a_message_is_null_and_its_sets_are_empty():
    message = Message("a@x")
    for field in dataclasses.fields(message):
        kind = COLUMNS[MESSAGES][field.name]
        value = getattr(message, field.name)
        if field.name not in ("msgid", "audience"):
            assert value == (() if kind is Type.SET else None)
    assert message.audience == Annotation("1", "a@x", "terry", "vote").audience == PUBLIC


@pytest.mark.parametrize(("made", "table"), [(Message, MESSAGES), (Annotation, ANNOTATIONS)])
def test_a_row_is_one_of_these_and_a_ts(made, table):
    assert {field.name for field in dataclasses.fields(made)} | {"ts"} == set(COLUMNS[table])
    assert KEY_COLUMN[table] == dataclasses.fields(made)[0].name


def test_they_are_values():
    assert Message("a@x", to=("joe@x",)) == Message("a@x", to=("joe@x",))
    assert len({Message("a@x"), Message("a@x")}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        Message("a@x").msgid = "b@x"
