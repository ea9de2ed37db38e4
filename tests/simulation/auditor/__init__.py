"""The auditor: it judges the history of a world, and uses nothing of the product's code.

    history ─ story ─> points ─┬─ came_in ──────────────────────────────────> every row once
                               ├─ lives ─ timelines ─ matching ─────────────> the law of filters
                               ├─ shelves ─ lists ──────────────────────────> what pages show
                               │              └─ rules ─ importance ─────────> … by importance
                               ├─ timing ─ plans, transmissions ─ deliveries ─> what was sent
                               ├─ asides, borrowing, phrases, wishes ───────> filters as asked for
                               ├─ boxes ────────────────────────────────────> what was put in
                               └─ endings ──────────────────────────────────> nothing waits
    TQL ─ reader ─> nodes ─ answers (parts, ranks, values, spans) ─> when each message matches

A filter's answer is not asked at instants: it is solved for all of them (``spans``), so Q(t), QM
and ``matched_at`` are read from one set of spans for each message.  Judging goes from one settled
point to the next: what was stored then was judged then, so only the step from there is judged.
Where a history cannot tell what happened (an answer that was lost in a crash, old mail that was
forgotten), both outcomes are allowed, and nothing else.
"""

from tests.simulation.auditor.audit import Auditor, judge
from tests.simulation.auditor.findings import Finding

__all__ = ["Auditor", "Finding", "judge"]
