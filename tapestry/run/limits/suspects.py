"""Find who is to blame where statements take too long: the filters, or an engine that runs nothing.

    too slow ─> check ─ runs ──────────────────────────────> the filters
                      └ stuck ─ the first time ────────────> nobody; the engine is started again
                              └ again, over the same ones ─> the filters

A statement can take all of an engine, so that a check is stuck behind it.  So the same filters are
to blame where a second engine is stuck over them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.surroundings import NobodysFaultError
from tapestry.plan.engine import Engine, EngineStuckError, require_running
from tapestry.run.resources import EngineOn
from tapestry.tables.delta.log import Snapshot, Tables, snapshot

_suspects: set[Hashable] = set()


def require_blame(engine: Engine, failed: Collection[Hashable]) -> None:
    """Return if what has failed is to blame for it; raise NobodysFaultError if the engine is.

    It is EngineStuckError if the engine is stuck.
    """
    try:
        require_running(engine)
    except EngineStuckError:
        if failed and _suspects.issuperset(failed):
            _suspects.difference_update(failed)
            return
        _suspects.update(failed)
        raise
    except Exception as error:
        raise nobodys(error) from error
    _suspects.difference_update(failed)


def newest(tables: Tables) -> Snapshot:
    """Return a snapshot of the newest versions; raise NobodysFaultError if they cannot be read."""
    try:
        return snapshot(tables)
    except TapestryError as error:
        raise nobodys(error) from error


def open_engine(engine_on: EngineOn, seen: Snapshot) -> Engine:
    """Return an engine over a snapshot; raise NobodysFaultError if there is none."""
    try:
        return engine_on(seen)
    except Exception as error:
        raise nobodys(error) from error


def nobodys(error: Exception) -> TapestryError:
    """Return an error as one that is no filter's fault; a damaged file stays what it is."""
    if isinstance(error, NobodysFaultError | DamagedFileError):
        return error
    if isinstance(error, TapestryError):
        return NobodysFaultError(error.message, hint=error.hint)
    return NobodysFaultError(f"Spark does not answer as it should ({type(error).__name__}).")
