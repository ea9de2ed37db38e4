"""`manage.py filters`: the filters of everybody, or of one person."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from filters.api.schemas import filter_line
from filters.authoring.models import Filter
from filters.site.management.base import TapestryCommand, user_named
from tapestry.client.output import readable


class Command(TapestryCommand):
    """Print filters by owner and name, each with its text and why it does not run, if so."""

    help = "Print the filters of everybody, or of one person, by name."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", metavar="U", help="those of U")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = Filter.objects.select_related("owner").order_by("owner__username", "name")
        if options["user"] is not None:
            chosen = chosen.filter(owner=user_named(options["user"]))
        for filter_ in chosen.iterator():
            row = {**filter_line(filter_).dict(), "owner": filter_.owner.get_username()}
            shown = row | {"name": f"{row['owner']}.{row['name']}"}
            line = json.dumps(row, ensure_ascii=False) if options["json"] else None
            self.stdout.write(line or readable("filters", shown))
