"""`manage.py explain FILTER`: every stage of a filter."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from django.core.management.base import CommandParser

from filters.site.management.base import TapestryCommand
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.plan.compile import compile_filter
from tapestry.plan.explain import explain
from tapestry.predicate_index.store import PredicateIndex
from tapestry.query.context import Context


class Command(TapestryCommand):
    """Print what becomes of a filter: phrase, TQL, SQL, normal, monotone, incremental."""

    help = "Show how FILTER is understood and every stage of its compilation."
    needs_database = False
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("filter", metavar="FILTER", help="a phrase, short TQL or SQL")
        parser.add_argument("--json", action="store_true", help="as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        context = Context(now=wall_clock())
        stages = explain(options["filter"], context).as_dict()
        stages["groups"] = _groups(options["filter"], context)
        if options["json"]:
            self.stdout.write(json.dumps(stages, ensure_ascii=False, indent=2))
            return
        for name, value in stages.items():
            if value is not None and value != ():
                self.stdout.write(f"{name}:")
                self.stdout.write("\n".join(f"    {line}" for line in _lines(value)))


def _groups(text: str, context: Context) -> list[dict[str, object]]:
    """Return the signature of each disjunct, and how many filters here have it."""
    indexes = PredicateIndex.all_parts(services.tables().root)
    filter_counts = sum((index.filter_counts() for index in indexes), Counter[str]())
    return [
        {
            "disjunct": plan.disjunct.monotone.index,
            "signature": plan.signature.name,
            "filters": filter_counts[plan.signature.name],
        }
        for plan in compile_filter(text, context).plans
    ]


def _lines(value: object) -> list[str]:
    if isinstance(value, dict):
        return [f"{name}: {item}" for name, item in value.items()]
    if isinstance(value, list | tuple):
        return [line for item in value for line in _lines(item)]
    return str(value).splitlines()
