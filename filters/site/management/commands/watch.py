"""`manage.py watch TEXT --user U`: keep a filter for a person, and print what it finds."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser

from filters.authoring import lifecycle
from filters.authoring.compilation.understanding import understand
from filters.authoring.models import Filter
from filters.authoring.tasks import preview_for
from filters.people import people
from filters.people.models import User
from filters.site.management.base import user_named
from filters.site.management.commands import matches
from tapestry.client.output import readable
from tapestry.core.errors import TapestryError


class Command(matches.Command):
    """Keep a filter, or go on with one of the same name and text, until Ctrl-C; it stays."""

    help = "Keep a filter for a person, and print what it finds, until Ctrl-C; the filter stays."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("text", metavar="TEXT", help="a phrase, short TQL or SQL")
        parser.add_argument("--user", metavar="U", required=True, help="whose filter it is")
        parser.add_argument("--name", default="", help="its short name (made of the text)")
        parser.add_argument("--live", action="store_true", help="keep only what still matches")
        parser.add_argument("--from-now", action="store_true", help="without what is there")
        parser.add_argument(
            "--since", type=int, default=0, metavar="CURSOR", help="go on after this one (0)"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="keep nothing: say how much it would find"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        user = user_named(options["user"])
        if options["dry_run"]:
            self._say(user, options)
            return
        filter_ = _kept(user, options)
        words = filter_.phrase or filter_.tql
        self.stderr.write(f"Watching {user}.{filter_.name}: {words}", style_func=str)
        self.stream(filter_, options["since"], True, options)

    def _say(self, user: User, options: dict[str, Any]) -> None:
        understood = understand(options["text"], people.context(user))
        row = {
            "phrase": understood.phrase or "",
            "tql": understood.display_tql or understood.tql,
            "count": preview_for(user, options["text"], _mode(options))["count"],
        }
        line = json.dumps(row, ensure_ascii=False) if options["json"] else None
        self.stdout.write(line or readable("watch", row))


def _mode(options: dict[str, Any]) -> str:
    return Filter.Mode.LIVE if options["live"] else Filter.Mode.KEEP


def _kept(user: User, options: dict[str, Any]) -> Filter:
    """Return the filter that is watched; TapestryError if the name has another text."""
    try:
        return lifecycle.install(
            user,
            options["text"],
            name=options["name"],
            existing=not options["from_now"],
            mode=_mode(options),
        )
    except lifecycle.NameTakenError:
        there = Filter.objects.get(owner=user, name=options["name"])
        if there.text != options["text"]:
            raise
        return there
    except ValidationError as error:
        raise TapestryError(" ".join(error.messages)) from error
