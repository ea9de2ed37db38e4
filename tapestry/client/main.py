"""``tapestry VERB``: arguments in, rows out, and an exit code that says how it went.

Rows are JSON, one a line, on stdout unless that is a terminal; all else is on stderr.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from typing import Any

from tapestry.client import verbs
from tapestry.client.access import HERE, SITE, TOKEN, TOKEN_FILE, token_of
from tapestry.client.output import readable
from tapestry.client.save import FORMATS
from tapestry.client.site import CallError, Site

HELP = f"""\
Asks a site that runs, which {SITE} or --site names ({HERE} unless
set). {TOKEN} is a token of your page “Access tokens” there; or it is in a file
that only you may read: ~/.config/tapestry/token, or what {TOKEN_FILE} names."""

EXIT_CODES = {
    0: "done",
    1: "it failed, and one sentence says why",
    2: "the command line, or what it is set by, is wrong",
    3: "the site refuses what is asked",
    4: "the token does not open it",
    5: "the site does not answer",
    130: "interrupted, as by Ctrl-C",
}
"""What the exit codes of all commands mean; these do not change."""

TAKES: dict[verbs.Verb, tuple[str, ...]] = {
    verbs.ask: ("TEXT",),
    verbs.filters: (),
    verbs.add: ("TEXT",),
    verbs.watch: ("TEXT",),
    verbs.pause: ("NAME",),
    verbs.resume: ("NAME",),
    verbs.delete: ("NAME",),
    verbs.matches: ("NAME",),
    verbs.wait: ("TOKEN",),
    verbs.save: ("NAME", "DIRECTORY"),
    verbs.message: ("ID",),
    verbs.why: ("NAME", "ID"),
    verbs.vote: ("ID",),
    verbs.tag: ("ID", "WORD"),
    verbs.act: (),
    verbs.mcp: (),
}
"""The verbs, each with what must follow it."""

CHANGE = (
    verbs.add, verbs.watch, verbs.pause, verbs.resume, verbs.delete, verbs.vote, verbs.tag,
    verbs.act,
)  # fmt: skip
"""The verbs that change something."""

ACTIONS = (
    "done", "inbox", "star", "unstar", "pin", "unpin", "read", "unread", "snooze", "unsnooze",
    "mute", "unmute",
)  # fmt: skip
"""What may be done with messages, as the site has it."""

VERBS = {verb.__name__ for verb in TAKES}
IN_PLACE = frozenset({"ask", "filters", "matches", "wait", "watch"})
"""The verbs that are commands of this machine too."""


def parser() -> ArgumentParser:
    """Return the parser of the command line: its verbs and what each takes."""
    command = ArgumentParser(
        "tapestry", description=HELP, formatter_class=RawDescriptionHelpFormatter
    )
    kinds = command.add_subparsers(dest="verb", metavar="VERB", required=True)
    of = {}
    for verb, names in TAKES.items():
        words = (verb.__doc__ or "").partition("\n")[0]
        of[verb] = kinds.add_parser(verb.__name__, help=words, description=words)
        of[verb].set_defaults(run=verb)
        of[verb].add_argument("--site", metavar="URL", help=f"the site (${SITE}, or {HERE})")
        of[verb].add_argument("--json", action="store_true", help="JSON on a terminal, too")
        for name in names:
            of[verb].add_argument(name.lower(), metavar=name)
    for verb in CHANGE:
        of[verb].add_argument("--dry-run", action="store_true", help="change nothing, show it")
    of[verbs.ask].add_argument("--limit", type=count, metavar="N", help="at most N messages")
    for verb in (verbs.add, verbs.watch):
        of[verb].add_argument("--name", default="", help="its short name (made of the text)")
        of[verb].add_argument("--live", action="store_true", help="keep only what still matches")
        of[verb].add_argument("--from-now", action="store_true", help="without what is there")
    for verb in (verbs.matches, verbs.watch):
        of[verb].add_argument("--since", default="", metavar="CURSOR", help="go on after this one")
    follow = "wait for more, until Ctrl-C"
    of[verbs.matches].add_argument("--follow", action="store_true", help=follow)
    seconds = "the longest wait (600)"
    of[verbs.wait].add_argument(
        "--timeout", type=float, default=600.0, metavar="SECONDS", help=seconds
    )
    form = f"what is written ({FORMATS[0]})"
    of[verbs.save].add_argument("--format", choices=FORMATS, default=FORMATS[0], help=form)
    of[verbs.vote].add_argument("vote", choices=["for", "against", "none"])
    of[verbs.tag].add_argument("--take-back", action="store_true", help="take the tag back")
    port = "serve at http://127.0.0.1:PORT/mcp, each request with a token of its own"
    of[verbs.mcp].add_argument("--port", type=int, help=port)
    of[verbs.act].add_argument("action", choices=ACTIONS)
    of[verbs.act].add_argument("ids", nargs="+", metavar="ID")
    of[verbs.act].add_argument("--until", metavar="INSTANT", help="of snooze: until when")
    return command


def count(text: str) -> int:
    """Return the number, not below 0, that an argument names; ValueError if it names none."""
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def main(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Run a verb; return its exit code."""
    given = parser().parse_args(argv)
    try:
        needs_none = given.run is verbs.mcp and given.port is not None
        token = "" if needs_none else token_of(environ)
        _print(given, Site(given.site or environ.get(SITE) or HERE, token))
    except CallError as error:
        print(f"error: {error.render()}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _print(given: Namespace, site: Site) -> None:
    is_json = given.json or not sys.stdout.isatty()
    for row in given.run(site, given):
        print(_line(row) if is_json else readable(given.verb, row), flush=True)


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)
