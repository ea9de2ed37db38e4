"""Who is to blame where statements take too long: the filters, or an engine that runs nothing.

    too slow ─> check ─ runs ──────────────────────────────> the filters
                      └ stuck ─ the first time ────────────> nobody; the engine is started again
                              └ again, over the same ones ─> the filters

A statement can take all of an engine, so that a check is stuck behind it.  So the same filters are
to blame where a second engine is stuck over them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from tapestry.plan.engine import Engine, EngineStuckError, check_engine

_suspects: set[Hashable] = set()


def require_blame(engine: Engine, failed: Collection[Hashable]) -> None:
    """Return if what has failed is to blame for it; raise EngineStuckError if the engine is."""
    try:
        check_engine(engine)
    except EngineStuckError:
        if failed and _suspects.issuperset(failed):
            _suspects.difference_update(failed)
            return
        _suspects.update(failed)
        raise
    _suspects.difference_update(failed)
