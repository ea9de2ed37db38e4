"""What a compiled filter answers at an instant, on any engine."""

from __future__ import annotations

from collections.abc import Sequence

from tapestry.core.clock import BEGINNING
from tapestry.plan.compile import Compiled
from tapestry.plan.engine import Engine, evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.plan.validity import groups_while_valid
from tapestry.run.execute import Subscription, signature_groups


def answer(plan: Compiled, audiences: tuple[str, ...], engine: Engine, t: int) -> set[str]:
    """Return the keys of the messages that match."""
    return answers([plan], audiences, engine, t)[0]


def answers(
    plans: Sequence[Compiled], audiences: tuple[str, ...], engine: Engine, t: int
) -> list[set[str]]:
    """Return the keys of the messages that match each of some filters, by one statement."""
    asked = [(Subscription(n, plan, audiences, BEGINNING), 0) for n, plan in enumerate(plans)]
    groups = groups_while_valid(signature_groups(asked), engine.covers)
    matches: list[set[str]] = [set() for _ in plans]
    for number, msgid, *_ in evaluate(engine, lower_at(groups, t)):
        matches[number].add(str(msgid))
    return matches
