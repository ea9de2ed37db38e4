"""The site that is asked, and the token that opens it: from the environment, or a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tapestry.client.site import CallError

SITE, TOKEN, TOKEN_FILE = "TAPESTRY_SITE", "TAPESTRY_TOKEN", "TAPESTRY_TOKEN_FILE"
HERE = "http://localhost:8000"
MAKE_ONE = "Make a token on your page “Access tokens”."


def names_site(arguments: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Return whether a running site is meant, not the data directory of this machine.

    >>> names_site(["from Jones"], {}), names_site(["from Jones", "--site=https://x.org"], {})
    (False, True)
    >>> names_site(["from Jones"], {SITE: "https://x.org"})
    True
    >>> names_site(["from Jones", "--data", "/srv/x"], {SITE: "https://x.org"})
    False
    """
    options = {argument.partition("=")[0] for argument in arguments}
    if "--data" in options:
        return False
    return "--site" in options or any(environ.get(name) for name in (SITE, TOKEN, TOKEN_FILE))


def token_of(environ: Mapping[str, str]) -> str:
    """Return the token: that of the environment, else what a file has that only its owner reads.

    Never of the arguments, which all who use the machine can list.  Raises CallError where there is
    none, or the file is open to others.
    """
    if token := environ.get(TOKEN, "").strip():
        return token
    file = Path(environ.get(TOKEN_FILE) or _usual_file(environ))
    try:
        with file.open() as opened:
            mode = os.fstat(opened.fileno()).st_mode
            token = opened.read(4096).strip()
    except FileNotFoundError as error:
        if environ.get(TOKEN_FILE):
            raise CallError(2, f"{file}, which {TOKEN_FILE} names, is not there.") from error
        hint = f"{MAKE_ONE} Or keep it in {file}."
        raise CallError(2, f"{TOKEN} is not set.", hint) from error
    except (OSError, UnicodeError) as error:
        raise CallError(2, f"{file} cannot be read: {error}.") from error
    if mode & 0o077:
        raise CallError(2, f"Others may read the token in {file}.", f"Run: chmod 600 {file}")
    if not token or not token.isascii() or not token.isprintable():
        raise CallError(2, f"There is no token in {file}.", MAKE_ONE)
    return token


def _usual_file(environ: Mapping[str, str]) -> Path:
    configuration = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "")) / ".config"
    return Path(configuration) / "tapestry" / "token"
