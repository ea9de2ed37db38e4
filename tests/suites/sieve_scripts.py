"""Random Sieve tests (RFC 5228), and messages that many of them are true of.

Not among the messages, as they are read otherwise on purpose: a List-Id or Message-ID without
brackets (against RFC 2919 and 5322), and a message that answers itself.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from random import Random

WORDS = (
    "plan",
    "Plan",
    "PLANS",
    "the",
    "50%",
    "a_b",
    "joe",
    "Jones",
    "x.org",
    "@",
    "",
    "hello",
    " ",
)
ADDRESSES = ("joe@x.org", "Mary.Jones@Example.org", "ann@sub.x.org", "plan@y.net")
NAMES = ("", "Joe", '"Joe"', "Mary Jones", '"Jones, Mary"', "=?utf-8?q?J=C3=B6rg?=", "plan")
SUBJECTS = ("The plan", "Re: plans", "50% off", "a_b", "axb", "", "=?utf-8?b?w4RwZmVs?= and plan")
SUBJECTS += ("a long\r\n folded plan", "joe@x.org", "  plan  ", "tab\tplan", "back\\slash *")
LISTS = ("<plans.x.org>", "The plans <plans.x.org>", "<r-devel.r-project.org>")
"""With brackets, as RFC 2919 demands."""

IDS = ("<r1@x.org>", "<r2@x.org>", "<plan.3@y.net>")
"""Of messages that are not there: no message of ours answers itself."""
GROUPS = ("comp.plan", "comp.lang.c", "rec.food")
HEADERS = ("subject", "Subject", "from", "to", "cc", "list-id", "in-reply-to", "references")
HEADERS += ("message-id", "newsgroups", "x-spam")
VALUES = (
    *WORDS,
    *WORDS,
    *SUBJECTS[:7],
    "a long folded plan",
    "plan  ",
    *ADDRESSES,
    "Mary Jones",
    "Joe <joe@x.org>",
    *LISTS,
    *IDS,
)
VALUES += (*GROUPS, "<joe@x.org>", "Jörg", "Äpfel", "example.org", "joe", "mary.jones")
PATTERNS = (
    "*plan*",
    "plan*",
    "*plan",
    "?he plan",
    "*",
    "?*",
    "*@x.org",
    "*<*@x.org>",
    "joe*",
    "a?b",
)
PATTERNS += ("*\\\\*", "50%*", "", "* *", "*<*>", "*.x.org*")
BODIES = ("hello plan", "Hello\r\nthere", "", "caf\u00e9 50%", "plan\r\n" * 300)


def message(chance: Random, number: int) -> bytes:
    """Return a message, most of whose headers may be missing."""
    head = [f"Message-ID: <{number}@x.org>"]
    for name, values, often in (
        ("From", [_mailbox(chance)], 0.9),
        ("To", [_mailbox(chance) for _ in range(chance.randint(1, 3))], 0.8),
        ("Cc", [_mailbox(chance) for _ in range(chance.randint(1, 2))], 0.4),
        ("Subject", [chance.choice(SUBJECTS)], 0.9),
        ("List-Id", [chance.choice(LISTS)], 0.4),
        ("In-Reply-To", [chance.choice(IDS)], 0.4),
        ("Newsgroups", [",".join(chance.sample(GROUPS, chance.randint(1, 2)))], 0.3),
    ):
        if chance.random() < often:
            head.append(f"{name}: {', '.join(values)}")
    if chance.random() < 0.4:
        head.append(f"References: {' '.join(chance.sample(IDS, chance.randint(1, 3)))}")
    head += ["Date: Mon, 02 Nov 2026 10:00:00 +0000", "MIME-Version: 1.0"]
    return "\r\n".join([*head, *_body(chance)]).encode()


def _mailbox(chance: Random) -> str:
    name, address = chance.choice(NAMES), chance.choice(ADDRESSES)
    return f"{name} <{address}>" if name else chance.choice((address, f"<{address}>"))


def _body(chance: Random) -> list[str]:
    text = chance.choice(BODIES)
    plain = "Content-Type: text/plain; charset=utf-8"
    match chance.choice(("plain", "plain", "base64", "html", "parts")):
        case "base64":
            encoded = b64encode(text.encode()).decode()
            return [plain, "Content-Transfer-Encoding: base64", "", encoded, ""]
        case "html":
            return ["Content-Type: text/html; charset=utf-8", "", f"<p>{text} <b>bold</b></p>", ""]
        case "parts":
            parts = ["", "--b", plain, "", text, "--b", "Content-Type: application/x", ""]
            return ['Content-Type: multipart/mixed; boundary="b"', *parts, "hello", "--b--", ""]
    return [plain, "", text, ""]


def script(chance: Random, count: int) -> str:
    """Return a script of so many rules; each files into a folder of its number."""
    rules = "".join(
        f'if {_test(chance, 2)} {{ fileinto "R{number}"; }}\n' for number in range(count)
    )
    return f'require ["fileinto", "body"];\n{rules}'


def _test(chance: Random, depth: int) -> str:
    if depth and chance.random() < 0.4:
        inner = [_test(chance, depth - 1) for _ in range(chance.randint(1, 3))]
        word = chance.choice(("allof", "anyof", "not"))
        return f"not {inner[0]}" if word == "not" else f"{word} ({', '.join(inner)})"
    return chance.choice((_header, _header, _header, _address, _address, *_OTHERS))(chance)


def _header(chance: Random) -> str:
    return f"header {_match(chance, chance.choice(HEADERS))}"


def _address(chance: Random) -> str:
    part = chance.choice(("", ":all ", ":localpart ", ":domain "))
    return f"address {part}{_match(chance, chance.choice(('from', 'To', 'cc')))}"


def _body_test(chance: Random) -> str:
    return f"body :text {chance.choice((':is', ':contains'))} {_values(chance, VALUES)}"


def _match(chance: Random, header: str) -> str:
    match_type = chance.choice(("", ":is ", ":contains ", ":contains ", ":matches "))
    values = PATTERNS if match_type == ":matches " else VALUES
    return f'{match_type}"{header}" {_values(chance, values)}'


def _values(chance: Random, values: tuple[str, ...]) -> str:
    some = [_quoted(chance.choice(values)) for _ in range(chance.choice((1, 1, 1, 2)))]
    return some[0] if len(some) == 1 else f"[{', '.join(some)}]"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _size(chance: Random) -> str:
    return f"size :{chance.choice(('over', 'under'))} {chance.choice(('200', '300', '1K', '400'))}"


def _exists(chance: Random) -> str:
    names = chance.sample(("subject", "in-reply-to", "list-id", "x-spam"), chance.randint(1, 2))
    return f"exists [{', '.join(map(_quoted, names))}]"


_OTHERS = (_body_test, _size, _exists, lambda _: "true", lambda _: "false")


def mail(chance: Random, count: int) -> Iterator[bytes]:
    """Yield so many messages."""
    for number in range(count):
        yield message(chance, number)
