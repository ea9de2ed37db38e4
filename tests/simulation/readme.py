"""The tables of README.md, from the last runs whose findings were kept."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from tests.simulation import coverage
from tests.simulation.plants import PLANTS

HERE = Path(__file__).resolve().parent
README, RECORD = HERE / "README.md", HERE / "record.json"


def record_planted(seeds: str, steps: int, searches: Sequence[dict[str, Any]]) -> None:
    """Keep how the search for planted faults went; what was searched for before stays."""
    kept = _record()
    before = {one["name"]: one for one in kept.get("planted", {}).get("faults", ())}
    before |= {one["name"]: one for one in searches}
    _keep({**kept, "planted": {"seeds": seeds, "steps": steps, "faults": list(before.values())}})


def found() -> set[str]:
    """Return the names of the faults that were found."""
    faults = _record().get("planted", {}).get("faults", ())
    return {fault["name"] for fault in faults if fault["seed"] is not None} & PLANTS.keys()


def record_coverage(seeds: str, steps: int, pairs: Collection[str]) -> None:
    """Keep how much has met."""
    every, missing = coverage.wanted(coverage.features()), coverage.missing(pairs)
    said = f"Of {len(every)} pairs that can meet {len(every) - len(missing)} met."
    told = {"seeds": seeds, "steps": steps, "lines": coverage.summary(pairs), "missing": said}
    _keep({**_record(), "coverage": told})


def write() -> None:
    """Write both tables into README.md."""
    text, kept = README.read_text(), _record()
    for name, lines in (("coverage", _coverage(kept)), ("planted", _planted(kept))):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = before + begin + "\n".join(["", *lines, "", end]) + after
    README.write_text(text)


def _record() -> dict[str, Any]:
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def _keep(record: dict[str, Any]) -> None:
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _coverage(kept: dict[str, Any]) -> list[str]:
    told = kept["coverage"]
    head = f"Seeds {told['seeds']}, {told['steps']} steps each: features that met an event."
    table = ["| event | features | kept | live |", "|---|---|---|---|", *told["lines"]]
    return [head, "", *table, "", told["missing"]]


def _planted(kept: dict[str, Any]) -> list[str]:
    told = kept["planted"]
    faults = [fault for fault in told["faults"] if fault["name"] in PLANTS]
    worlds = f"seeds {told['seeds']}, {told['steps']} steps each"
    return [
        f"{len(found())} of {len(PLANTS)} found; looked for last in {worlds}."
        f" {len(PLANTS) - len(faults)} have not been looked for yet.",
        "",
        "| room | fault | seed | law |",
        "|---|---|---|---|",
        *(
            f"| {fault['room']} | {fault['name']} | {fault['seed']} | {fault['law']} |"
            if fault["seed"] is not None
            else f"| {fault['room']} | {fault['name']} | – | {_not_found(fault)} |"
            for fault in faults
        ),
    ]


def _not_found(fault: dict[str, Any]) -> str:
    if not fault["reached"]:
        return "no world comes by its place"
    return f"not found in {fault['reached']} worlds that come by its place"
