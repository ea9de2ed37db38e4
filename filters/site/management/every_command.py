"""All commands as their parsers describe them: those of this machine, and those of a site."""

from __future__ import annotations

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from dataclasses import replace

from django.core.management import load_command_class

from filters.site.management.base import DEVELOPERS
from filters.site.management.command_line import CONSOLE, MAKE_ACCOUNT, called, ours
from tapestry.client.described import Described, described
from tapestry.client.main import parser
from tapestry.core.errors import TapestryError


def of_this_machine() -> list[Described]:
    """Return our commands; without those that an installed package has not, as `bench`."""
    apps = {**dict.fromkeys(ours(), "filters.site"), MAKE_ACCOUNT: "django.contrib.auth"}
    return list(_loaded(apps))


def _loaded(apps: dict[str, str]) -> Iterator[Described]:
    for module, app in apps.items():
        name = module.replace("_", "-")
        try:
            made = load_command_class(app, module).create_parser(CONSOLE, name)
        except TapestryError:
            continue
        made.description = called(made.description or "", CONSOLE)
        of_people = described(name, made)
        parts = tuple(part for part in of_people.parts if DEVELOPERS.isdisjoint(part.flags))
        yield replace(of_people, parts=parts)


def of_a_site() -> list[Described]:
    """Return the verbs that a running site is asked."""
    return [described(name, made) for name, made in _verbs(parser()).items()]


def _verbs(command: ArgumentParser) -> dict[str, ArgumentParser]:
    (kinds,) = (action for action in command._actions if isinstance(action, _SubParsersAction))
    return kinds.choices
