"""Passkeys (WebAuthn, level 3): a browser makes one for this site, and signs with it later.

A challenge is kept in the session, and answered once.  A passkey belongs to a host: browsers make
none for a bare IP address.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import struct
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import HttpRequest
from fido2.attestation.base import InvalidData, UnsupportedType
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialUserEntity,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from filters.people.models import Passkey, User
from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.clock import wall_clock

MOST = 20
"""Passkeys that a person may have."""

_MAKING, _SIGNING = "passkey_making", "passkey_signing"
"""Where the challenge of each ceremony is kept in the session."""


_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError, struct.error),
    *(NotImplementedError, UnsupportedAlgorithm, InvalidData, UnsupportedType),
)
"""What reading an answer raises that no browser made."""


def are_possible(request: HttpRequest) -> bool:
    """Tell whether a browser makes passkeys for the host it asks by: one with a name."""
    try:
        ipaddress.ip_address(_host(request).strip("[]"))
    except ValueError:
        return True
    return False


def creation_options(request: HttpRequest, owner: User) -> str:
    """Return what a browser needs to make a passkey, as JSON, and keep its challenge."""
    user = PublicKeyCredentialUserEntity(
        name=owner.get_username(),
        id=bytes.fromhex(keyed_digest("passkey", str(owner.pk))),
        display_name=owner.get_full_name() or owner.get_username(),
    )
    options, state = _server(request).register_begin(
        user,
        _credentials(owner),
        ResidentKeyRequirement.PREFERRED,
        UserVerificationRequirement.PREFERRED,
    )
    request.session[_MAKING] = state
    return json.dumps(dict(options.public_key))


def add(request: HttpRequest, owner: User, name: str, answer: str) -> bool:
    """Store the passkey that a browser has made; return whether it answers the challenge."""
    state = request.session.pop(_MAKING, None)
    if state is None:
        return False
    try:
        made = _server(request).register_complete(state, json.loads(answer))
    except _UNREADABLE:
        return False
    credential = made.credential_data
    if credential is None:
        return False
    try:
        with transaction.atomic():
            Passkey.objects.create(
                owner=owner,
                name=name,
                digest=_digest(credential.credential_id),
                credential=websafe_encode(bytes(credential)),
                sign_count=made.counter,
                created_at=wall_clock(),
            )
    except IntegrityError:
        return False
    return True


def request_options(request: HttpRequest, owner: User) -> str:
    """Return what a browser needs to sign with a passkey of a person; empty if there is none."""
    credentials = _credentials(owner)
    if not credentials or not are_possible(request):
        return ""
    options, state = _server(request).authenticate_begin(
        credentials, UserVerificationRequirement.PREFERRED
    )
    request.session[_SIGNING] = state
    return json.dumps(dict(options.public_key))


def take(request: HttpRequest, owner: User, answer: str) -> bool:
    """Tell whether a passkey of a person has signed the challenge, which is used up.

    A passkey that counts its signatures must have gone on: else there is a copy of it.
    """
    state = request.session.pop(_SIGNING, None)
    if state is None:
        return False
    try:
        content: dict[str, Any] = json.loads(answer)
        used = _server(request).authenticate_complete(state, _credentials(owner), content)
        response = AuthenticationResponse.from_dict(content)
    except _UNREADABLE:
        return False
    count = response.response.authenticator_data.counter
    passkeys = Passkey.objects.filter(owner=owner, digest=_digest(used.credential_id))
    further = Q(sign_count__lt=count) if count else Q(sign_count=0)
    return passkeys.filter(further).update(sign_count=count, used_at=wall_clock()) == 1


def _credentials(owner: User) -> list[AttestedCredentialData]:
    stored = Passkey.objects.filter(owner=owner).values_list("credential", flat=True)
    return [AttestedCredentialData(websafe_decode(credential)) for credential in stored]


def _digest(credential_id: bytes) -> str:
    return hashlib.sha256(credential_id).hexdigest()


def _server(request: HttpRequest) -> Fido2Server:
    """Return the relying party: this site, by the host that it is asked by."""
    return Fido2Server(
        PublicKeyCredentialRpEntity(name="Tapestry", id=_host(request)),
        verify_origin=_origins(request).__contains__,
    )


def _host(request: HttpRequest) -> str:
    return urlsplit(f"//{request.get_host()}").hostname or ""


def _origins(request: HttpRequest) -> set[str]:
    """Return the origins of this site: as it is asked, and as TAPESTRY_URL says it is called.

    A proxy that ends TLS asks by plain http.
    """
    site = urlsplit(settings.SITE_URL)
    origins = {f"{request.scheme}://{request.get_host()}"}
    if site.hostname == _host(request):
        origins.add(f"{site.scheme}://{site.netloc}")
    return origins
