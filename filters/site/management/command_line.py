"""The command line, before anything large is imported: the data directory, first words, help.

The settings name files in the data directory, so ``--data`` is read before them.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from importlib import import_module
from pathlib import Path

from django.core.management import BaseCommand, ManagementUtility

from filters.site.settings.data_directory import is_checkout
from tapestry import VERSION
from tapestry.client.main import EXIT_CODES, TAKES, VERBS
from tapestry.core.errors import TapestryError

COMMANDS = Path(__file__).parent / "commands"

MAKE_ACCOUNT = "createsuperuser"
"""The command of Django's that people need."""

ASKS_NOTHING = frozenset({"--noinput", "--no-input", "-h", "--help", "--version"})
NO_TERMINAL = """\
There is no terminal at which you could be asked.
Give --noinput, and DJANGO_SUPERUSER_USERNAME, _EMAIL and _PASSWORD in the environment."""

ENDS = "`tapestry COMMAND --help` says more. Exit codes:\n\n" + "\n".join(
    f"    {code:<4} {meaning}" for code, meaning in EXIT_CODES.items()
)

CONSOLE = "tapestry"
"""The program by its name for people; `manage.py` is the same in a checkout."""

WITHOUT_DATA = frozenset({"bench", "replay"})
"""Commands that do not work on the data directory: they have data of their own."""


def run(argv: Sequence[str]) -> None:
    """Run the command that the arguments name."""
    if argv[1:] in (["--version"], ["version"]):
        print(f"Tapestry {VERSION}")
        return
    arguments = choose_data_directory(_with_module_name(argv), os.environ)
    try:
        import_module("tapestry.settings")  # what is malformed is said there, in one sentence
    except TapestryError as error:
        sys.exit(f"error: {error.render()}")
    if "ask" in arguments[1:2] and not {"-h", "--help"}.intersection(arguments):
        announce_spark()
    is_asked = MAKE_ACCOUNT in arguments[1:2] and ASKS_NOTHING.isdisjoint(arguments)
    if is_asked and not sys.stdin.isatty():
        sys.exit(f"error: {NO_TERMINAL}")
    Utility(arguments).execute()


def _with_module_name(argv: Sequence[str]) -> list[str]:
    """Return the arguments with the command as its module is called: ``check-data`` is one."""
    name = argv[1].replace("-", "_") if len(argv) > 1 else ""
    return [argv[0], name, *argv[2:]] if name in ours() else list(argv)


def choose_data_directory(argv: Sequence[str], environ: MutableMapping[str, str]) -> list[str]:
    """Let the settings take ``--data DIR`` as ``TAPESTRY_DATA``; return the other arguments.

    Commands of our own are given it too: they describe and check it.  Those of Django do not
    know it.

    >>> environ = {}
    >>> choose_data_directory(["manage.py", "createsuperuser", "--data", "/srv/x"], environ)
    ['manage.py', 'createsuperuser']
    >>> environ
    {'TAPESTRY_DATA': '/srv/x'}
    """
    name = argv[1] if len(argv) > 1 else ""
    if name in WITHOUT_DATA:
        return list(argv)
    others: list[str] = []
    arguments = iter(argv)
    for argument in arguments:
        option, _, value = argument.partition("=")
        if option != "--data":
            others.append(argument)
            continue
        given = value or next(arguments, "")
        if given:
            environ["TAPESTRY_DATA"] = str(Path(given).absolute())
        if not given or name in ours():
            others += ["--data", given]
    return others


def announce_spark() -> None:
    """Say that Spark is started, which takes a while, or that one that runs is asked."""
    from filters.site.settings.machine import run_directory
    from filters.site.work.parts.addresses import UNPROVEN, spark_remote
    from tapestry.settings import DATA, MACHINE

    here = run_directory(DATA, MACHINE)
    words = "Asking the Spark that runs…" if spark_remote(here, UNPROVEN) else None
    print(words or "Starting Spark…", file=sys.stderr, flush=True)


def ours() -> dict[str, str]:
    """Return the commands of Tapestry, each with the first line of its module's docstring."""
    return dict(sorted(_described()))


def _described() -> Iterator[tuple[str, str]]:
    for module in COMMANDS.glob("[a-z]*.py"):
        docstring = ast.get_docstring(ast.parse(module.read_text())) or ""
        yield module.stem, docstring.partition("\n")[0]


class Utility(ManagementUtility):
    """Django's command line, whose help names our commands first."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Return a command; where there is none, end with 2, as for any wrong command line."""
        try:
            return super().fetch_command(subcommand)
        except SystemExit:
            sys.exit(2)

    def main_help_text(self, commands_only: bool = False) -> str:
        """Return our commands, each in a line; then what Django says, or what a site is asked."""
        is_console = self.prog_name == CONSOLE
        theirs = super().main_help_text(commands_only)
        if commands_only:
            return "\n".join(sorted({*names(), *VERBS})) if is_console else theirs
        described = [line.removeprefix("`manage.py ").split("`: ", 1) for line in ours().values()]
        if is_console:
            described.append([MAKE_ACCOUNT, "make an account that sees the operator's page."])
        lines = [f"    {command:26} {what}" for command, what in described]
        if is_console:
            sections = ["Asked of a site that runs, by a token:", *_of_sites(), ENDS]
        else:
            sections = [part for part in theirs.split("\n\n") if "[site]" not in part]
        return "\n\n".join(["\nTapestry's commands:", "\n".join(lines), *sections])


def _of_sites() -> list[str]:
    described = ((verb.__name__, verb.__doc__ or "") for verb in TAKES)
    return ["\n".join(f"    {name:26} {what.partition(chr(10))[0]}" for name, what in described)]


def names() -> list[str]:
    """Return the commands as they are written: ours, and the one of Django that people need."""
    return [*(name.replace("_", "-") for name in ours()), MAKE_ACCOUNT]


def program() -> str:
    """Return the program as a person types it where this runs."""
    return "manage.py" if is_checkout() else CONSOLE


def called(words: str, program: str) -> str:
    """Return words for the terminal that name the program as it was called.

    >>> called("Start it with `manage.py up`.", "tapestry")
    'Start it with `tapestry up`.'
    """
    return words.replace("manage.py ", f"{CONSOLE} ") if program == CONSOLE else words
