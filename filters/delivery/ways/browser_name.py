"""What a browser calls itself, in words that its owner knows it by."""

from __future__ import annotations

BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
"""What a User-Agent field has of each browser.  Some pretend to be those further down as well."""

SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str) -> str:
    """Return the name of a browser and its system from a User-Agent field: ``Firefox on Linux``."""
    browser = _first(BROWSERS, user_agent) or "A browser"
    system = _first(SYSTEMS, user_agent)
    return f"{browser} on {system}" if system else browser


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for part, name in table if part in user_agent), "")
