"""The command ``tapestry``: verbs for people, by a token; else the commands of ``manage.py``."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run what the arguments name; return the exit code.

    A verb that ``manage.py`` has too, as ``ask``, is asked of the site where there is a token, and
    in place else.
    """
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    from tapestry.client.main import TOKEN, VERBS
    from tapestry.client.main import main as ask_site

    if verb in VERBS and (os.environ.get(TOKEN) or verb not in ("ask", "matches")):
        return ask_site(sys.argv[1:])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tapestry.settings")
    from filters.site.management.command_line import run

    run(["tapestry", *sys.argv[1:]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
