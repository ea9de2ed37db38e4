"""The command ``tapestry``: verbs asked of a site that runs; else the commands of ``manage.py``."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run what the arguments name; return the exit code.

    A verb that is a command of this machine too, as ``ask``, is asked of a site where one is named,
    or a token; with ``--data``, or without these, it is done in place.
    """
    from tapestry.client.access import names_site
    from tapestry.client.main import IN_PLACE, VERBS
    from tapestry.client.main import main as ask_site

    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb in VERBS and (verb not in IN_PLACE or names_site(sys.argv[2:], os.environ)):
        return ask_site(sys.argv[1:])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tapestry.settings")
    from filters.site.management.command_line import run

    run(["tapestry", *sys.argv[1:]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
