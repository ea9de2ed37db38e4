"""Faults of budgets: what is over one is lost or not slowed, or slows somebody else."""

from __future__ import annotations

from tests.simulation.plants.plant import Plant

PLANTS = (
    Plant(
        "what is over its budget of deliveries is dropped",
        "filters.delivery.ways.forward",
        "_digest_floods",
        'if not matches or stored.get("sent", True):',
        'if not matches or stored["over"] or stored.get("sent", True):',
        "deliveries",
    ),
    Plant(
        "a budget of deliveries of one person slows another",
        "filters.delivery.dispatch.throttle",
        "used_up",
        'if counts[row.pk] >= budget(row.owner, "deliveries")}',
        "if counts[row.pk] >= least}",
        "put off",
    ),
    Plant(
        "what is over the deliveries of a day comes at once",
        "filters.delivery.dispatch.throttle",
        "_times",
        "if destination.pk in over:",
        "if destination.pk in over and not over:",
        "budgets",
    ),
    Plant(
        "who has run filters in this hour has used the seconds of another",
        "filters.runs.store.spending",
        "runs_hourly",
        'for owner in owners if is_used_up(owner, "seconds")]',
        "for owner in owners]",
        "budgets",
    ),
    Plant(
        "there is room for one more than a budget of filters",
        "filters.people.budgets",
        "shortage_of",
        "have + more <= most",
        "have + more <= most + 1",
        "budgets",
    ),
    Plant(
        "a budget of a group is not asked",
        "filters.people.budgets",
        "budget",
        "return own.get(kind, max(shared, default=usual))",
        "return own.get(kind, usual)",
        "budgets",
    ),
)
