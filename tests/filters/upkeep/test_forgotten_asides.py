"""What is set aside of messages names none that is forgotten."""

from __future__ import annotations

import pytest

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
