"""How often two people agree, at every instant: the votes that both gave the same messages."""

from __future__ import annotations

from tests.simulation.auditor.nodes import ANNOTATIONS, Aggregate, Truth
from tests.simulation.auditor.parts import Env, Test, Value
from tests.simulation.auditor.ranks import Counted, segments
from tests.simulation.auditor.spans import COMPARE, FALSE, Spans, Truth3, meet, sure, union_all
from tests.simulation.auditor.tables import Row, Tables

LEAST = 3
_COUNT, _AVG = (Aggregate(name, False, None, (), Truth(True)) for name in ("COUNT", "AVG"))


def compiled(people: tuple[Value, Value], op: str, share: float, tables: Tables) -> Test:
    """Compile that a share, where there is one, compares so; where not, this is false."""
    memo: dict[tuple[object, ...], Truth3] = {}

    def test(env: Env) -> Truth3:
        one, other = (person(env, 0) for person in people)
        if None in (one, other) or one == other:
            return FALSE
        if (one, other) not in memo:
            memo[one, other] = sure(_agree(one, other))
        return memo[one, other]

    def _agree(one: object, other: object) -> Spans:
        pairs: list[Counted] = []
        for mine in _votes(tables, one):
            for theirs in _votes(tables, other):
                if mine["msgid"] == theirs["msgid"]:
                    alike = int(mine["number"] == theirs["number"])
                    pairs.append((alike, meet(mine["there"], theirs["there"])))
        counts = segments(_COUNT, pairs)
        enough = union_all([((start, end),) for start, end, votes in counts if votes >= LEAST])
        shares = segments(_AVG, pairs)
        check = COMPARE[op]
        compares = union_all(
            [((start, end),) for start, end, it in shares if it is not None and check(it, share)]
        )
        return meet(enough, compares)

    return test


def _votes(tables: Tables, owner: object) -> list[Row]:
    rows = tables.having(ANNOTATIONS, "owner", owner)
    return [row for row in rows if row["kind"] == "vote" and row["number"] in (1, -1)]
