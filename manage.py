#!/usr/bin/env python
"""The operator's door: every command that works on a data directory starts here."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tapestry.settings")
    from filters.site.management.command_line import run

    run(sys.argv)


if __name__ == "__main__":
    main()
