"""The process for mail programs: `python -m filters.site.launch.imap_server` (filters.imap)."""

from __future__ import annotations

import asyncio
import sys

import django
from django.conf import settings

from tapestry.core.errors import TapestryError


def main() -> None:
    """Serve where TAPESTRY_IMAP says until SIGTERM; end with a sentence if that cannot be."""
    django.setup()
    from filters.imap.server import serve

    try:
        asyncio.run(serve(settings.IMAP))
    except TapestryError as error:
        sys.exit(f"error: {error.sentences}")
    except OSError as error:
        sys.exit(f"error: Mail programs cannot be served: {error.strerror}.")


if __name__ == "__main__":
    main()
