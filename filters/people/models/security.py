"""What proves that somebody is who they say: second factors, and the browsers they sign in with.

Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

from django.db import models

from filters.people.models.account import User


class AuthenticatorApp(models.Model):
    """An app that shows codes (TOTP, RFC 6238); a person has one at most.

    ``secret`` is encrypted (filters.site.work.crypto.encryption).  ``last_step`` is the time step
    of the last code that was taken: none is taken twice.
    """

    owner = models.OneToOneField(User, models.CASCADE, related_name="authenticator_app")
    secret = models.TextField()
    last_step = models.BigIntegerField(default=0)
    created_at = models.BigIntegerField()

    def __str__(self) -> str:
        return f"app of {self.owner}"


class Passkey(models.Model):
    """A passkey (WebAuthn): its public key, and how often it has signed, where it counts that.

    ``digest`` is the SHA-256 of the credential's id, in hexadecimal; ``credential`` the attested
    credential data in base64 for URLs.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True)
    credential = models.TextField()
    sign_count = models.BigIntegerField(default=0)
    created_at = models.BigIntegerField()
    used_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class RecoveryCode(models.Model):
    """A code that stands for a lost second factor, once; ``digest`` is a keyed digest of it."""

    owner = models.ForeignKey(User, models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)
    used_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "digest"], name="recovery_code_once")
        ]

    def __str__(self) -> str:
        return f"recovery code of {self.owner}"


class BrowserSession(models.Model):
    """A browser in which somebody is signed in; it is so as long as its session is stored.

    ``address`` and ``user_agent`` are those of its last request.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="browser_sessions")
    session_key = models.CharField(max_length=40, unique=True)
    address = models.CharField(max_length=45, default="", blank=True)
    user_agent = models.CharField(max_length=300, default="", blank=True)
    created_at = models.BigIntegerField()
    seen_at = models.BigIntegerField()

    def __str__(self) -> str:
        return f"session of {self.owner}"
