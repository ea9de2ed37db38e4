"""What is set aside, and what programs asked about, names no message that is forgotten."""

from __future__ import annotations

import pytest
from django.test import Client

from filters.api.authentication import make_token
from filters.api.models import TokenUse
from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.upkeep.forgetting import forget
from tapestry.core.clock import DAY, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.faults.set_asides import Planted


@pytest.mark.parametrize("before", [None, DAY])
def test_nothing_that_is_set_aside_names_a_message_that_is_forgotten(
    mail: Tables, set_asides: Planted, before: int | None
) -> None:
    set_asides.expect()
    numbered = ["7/3/bounce", "7/annotation", "7/outgoing", "7/reminder"]
    for key in (*numbered, set_aside.message_key("secret@example.org", "excerpt"), "9/excerpt"):
        set_aside.add(SetAside.Kind.MESSAGE, key, ValueError())
    forget("user:alice", before and wall_clock() + before)
    assert sorted(SetAside.objects.values_list("key", flat=True)) == numbered


@pytest.mark.parametrize("before", [None, DAY])
def test_no_call_of_a_program_is_about_a_message_that_is_forgotten(
    mail: Tables, alice: User, before: int | None
) -> None:
    secret = make_token(alice, "phone", ["read", "acts"], 7)[1]
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    forgotten = "secret@example.org"
    for msgid in (forgotten, "plan@example.org", f"{'long' * 60}@example.org"):
        client.get("/api/v1/message", {"id": msgid})
    act = {"action": "star", "messages": [{"id": forgotten, "audience": "user:alice"}]}
    assert client.post("/api/v1/acts", act, content_type="application/json").status_code == 200
    assert TokenUse.objects.count() == 4
    forget("user:alice", before and wall_clock() + before)
    assert TokenUse.objects.get().about == "plan@example.org"
