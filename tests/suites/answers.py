"""What a compiled filter answers at an instant, on any engine."""

from __future__ import annotations

from tapestry.core.clock import BEGINNING
from tapestry.plan.compile import Compiled
from tapestry.plan.engine import Engine, evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.plan.validity import groups_while_valid
from tapestry.run.execute import Subscription, signature_groups


def answer(plan: Compiled, audiences: tuple[str, ...], engine: Engine, t: int) -> set[str]:
    """Return the keys of the messages that match."""
    asked = Subscription(0, plan, audiences, BEGINNING)
    groups = groups_while_valid(signature_groups([(asked, 0)]), engine.covers)
    return {str(msgid) for _, msgid, *_ in evaluate(engine, lower_at(groups, t))}
