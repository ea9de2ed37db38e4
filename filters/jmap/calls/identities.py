"""Identities: the addresses that a person may write from, and their signatures (RFC 8621, 6)."""

from __future__ import annotations

import json
from typing import Any

from filters.compose.drafting.senders import senders
from filters.compose.drafting.texts import signatures, store_signature
from filters.jmap.arguments import Changes, Get, Set
from filters.jmap.models import JmapAccount
from filters.jmap.objects import (
    SetError,
    check_properties,
    check_state,
    id_of,
    no_changes,
    refusing,
    set_objects,
)
from filters.jmap.protocol import Arguments
from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.errors import TapestryError

PROPERTIES = ("name", "email", "replyTo", "bcc", "textSignature", "htmlSignature", "mayDelete")

FORBIDDEN = "Addresses are confirmed on the pages."


def identity_get(account: JmapAccount, given: Get) -> Arguments:
    """Return the addresses that the person may write from (RFC 8621, 6.1)."""
    names = given.properties or PROPERTIES
    check_properties(names, ("id", *PROPERTIES))
    found = identities(account)
    ids = list(found) if given.ids is None else list(dict.fromkeys(given.ids))
    return {
        "accountId": id_of(account),
        "state": _state(found),
        "list": [
            {"id": text} | {name: found[text][name] for name in names if name != "id"}
            for text in ids
            if text in found
        ],
        "notFound": [text for text in ids if text not in found],
    }


def identity_changes(account: JmapAccount, given: Changes) -> Arguments:
    """Return that nothing has changed; MethodError if something has (RFC 8621, 6.2)."""
    return no_changes(account, _state(identities(account)), given)


def identity_set(account: JmapAccount, given: Set) -> Arguments:
    """Set the signatures of addresses; nothing else is set here (RFC 8621, 6.3)."""
    found = identities(account)
    before = _state(found)
    check_state(given, before)

    def update(text: str, patch: dict[str, Any]) -> None:
        if text not in found:
            raise SetError("notFound")
        identity = found[text]
        changed = {name for name, value in patch.items() if identity.get(name, ...) != value}
        signature = patch.get("textSignature", identity["textSignature"])
        if changed - {"textSignature"} or not isinstance(signature, str):
            raise SetError("invalidProperties", *sorted(changed))
        try:
            store_signature(account.owner, identity["email"], signature)
        except TapestryError as error:
            words = error.message
            raise SetError("invalidProperties", "textSignature", description=words) from error

    create = refusing("forbiddenFrom", FORBIDDEN)
    answer = set_objects(given, create, update, refusing("forbidden", FORBIDDEN, found))
    after = _state(identities(account))
    return {"accountId": id_of(account), "oldState": before, "newState": after, **answer}


def identities(account: JmapAccount) -> dict[str, dict[str, Any]]:
    """Return the identities of an account by their ids."""
    owner = account.owner
    signed = signatures(owner)
    return {
        keyed_digest("jmap identity", f"{account.pk} {email}")[:22]: {
            "name": owner.get_full_name() or owner.get_username(),
            "email": email,
            "replyTo": None,
            "bcc": None,
            "textSignature": signed.get(email, ""),
            "htmlSignature": "",
            "mayDelete": False,
        }
        for email in senders(owner)
    }


def _state(found: dict[str, Any]) -> str:
    return keyed_digest("jmap identities", json.dumps(found))[:22]
