"""Texts that a person writes once: the signature of each address, and templates of messages."""

from __future__ import annotations

from filters.compose.models import OutgoingMessage, Signature, Template
from filters.people.models import User
from filters.people.requests import key_of
from tapestry.compose.quoting import own_text, signed, signed_anew
from tapestry.core.errors import TapestryError
from tapestry.deliver.one_line import one_line

LONGEST_SIGNATURE, LONGEST_TEMPLATE = 1_000, 5_000
"""Characters."""

MOST_TEMPLATES = 50


def signatures(owner: User) -> dict[str, str]:
    """Return the signatures of a person by address."""
    return dict(Signature.objects.filter(owner=owner).values_list("email", "text"))


def store_signature(owner: User, email: str, text: str) -> None:
    """Store the signature of one of a person's addresses; an empty one is deleted.

    Raise TapestryError if it is too long, or the address is not theirs.
    """
    text = _bounded(text, LONGEST_SIGNATURE, "A signature")
    if not owner.mail_addresses.filter(email=email).exists():
        raise TapestryError("That is none of your addresses.")
    if not text:
        Signature.objects.filter(owner=owner, email=email).delete()
        return
    Signature.objects.update_or_create(owner=owner, email=email, defaults={"text": text})


def sign(draft: OutgoingMessage) -> None:
    """Put the signature of its address into a message that is begun, above what it quotes."""
    row = Signature.objects.filter(owner=draft.owner, email=draft.sender).first()
    if row is not None:
        draft.body = signed(draft.body, row.text)


def sign_anew(owner: User, text: str, former: str, sender: str) -> str:
    """Return a text with the signature of its sender, where it has that of a former one."""
    if former == sender:
        return text
    known = signatures(owner)
    return signed_anew(text, known.get(former, ""), known.get(sender, ""))


def store_template(owner: User, name: str, text: str, key: int | None = None) -> Template:
    """Store a template, a new one unless ``key`` names one of the person's.

    Raise TapestryError if it is empty or too long, or there are too many.
    """
    text = _bounded(text, LONGEST_TEMPLATE, "A template")
    if not text:
        raise TapestryError("A template needs a text.")
    known = Template.objects.filter(owner=owner)
    row = known.filter(pk=key).first() if key is not None else None
    if row is None and known.count() >= MOST_TEMPLATES:
        raise TapestryError(f"You have {MOST_TEMPLATES} templates, as many as may be.")
    row = row or Template(owner=owner)
    row.name, row.text = one_line(name, 100) or one_line(text, 60), text
    row.save()
    return row


def template(owner: User, key: str) -> str:
    """Return the text of one of a person's templates, by its key as a form has it; else nothing."""
    texts = Template.objects.filter(owner=owner, pk=key_of(key) or 0).values_list("text", flat=True)
    return texts.first() or ""


def template_of(draft: OutgoingMessage) -> Template:
    """Store what a person wrote in a draft as a template; raise TapestryError as that does."""
    return store_template(draft.owner, draft.subject, own_text(draft.body)[0])


def _bounded(text: str, most: int, what: str) -> str:
    text = "\n".join(line.rstrip() for line in text.replace("\0", "").splitlines()).strip("\n")
    if len(text) > most:
        raise TapestryError(f"{what} may have {most:,} characters: make it shorter.")
    return text
