"""The scripts of the pages import each other by the names that have their hashes."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from django.contrib.staticfiles import finders
from django.test import Client

from filters.site.web.static_files import IMPORTED, import_map

SCRIPTS = Path(finders.find("site/site.js") or "").parent


def test_all_that_scripts_import_is_in_the_map() -> None:
    imported = {
        f"site/{name}"
        for script in SCRIPTS.glob("*.js")
        for name in re.findall(r'^import .* from "./(.*)";$', script.read_text(), re.MULTILINE)
    }
    assert imported == set(IMPORTED)
    for plain, hashed in json.loads(import_map())["imports"].items():
        assert re.fullmatch(re.escape(plain).replace(r"\.js", r"\.[0-9a-f]{12}\.js"), hashed)


def test_the_map_is_the_only_script_in_a_page_and_the_policy_has_its_hash(
    client: Client, db: None
) -> None:
    response = client.get("/sign-in/")
    scripts = re.findall("<script([^>]*)>([^<]+)</script>", response.content.decode())
    assert scripts == [(' type="importmap"', import_map())]
    digest = b64encode(sha256(import_map().encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in response.headers["Content-Security-Policy"]


def test_no_script_registers_by_itself() -> None:
    by_hand = {
        script.name for script in SCRIPTS.glob("*.js") if "addEventListener" in script.read_text()
    }
    assert by_hand == {"events.js", "offline.js", "sw.js"}, "the last two are loaded alone"
