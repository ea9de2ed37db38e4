"""What servers say is quoted without what cannot be stored, and without the secret."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tapestry.servers.quoted_reply import cause_without_secret, quoted_reply

SECRETS = ["s3cret", 'a "quoted\\ one', "pässwörd", "密码-密码", "x.y+z/(w)"]


def forms(secret):
    quoted = secret.replace("\\", "\\\\").replace('"', '\\"')
    yield secret
    yield secret.upper()
    yield f'LOGIN joe "{quoted}"'
    yield f"LOGIN command error: BAD [{f'cannot {quoted}'.encode()!r}]"
    yield secret.encode().decode("ascii", "surrogateescape")
    yield b64encode(secret.encode()).decode()
    yield b64encode(f"\0joe\0{secret}".encode()).decode()
    yield b64encode(f"user=joe\x01auth=Bearer {secret}\x01\x01".encode()).decode()
    yield "AUTHENTICATE" + b64encode(f"\0joe\0{secret}".encode()).decode()


@pytest.mark.parametrize("secret", SECRETS)
def test_the_secret_is_quoted_in_no_form(secret):
    for form in forms(secret):
        error = ValueError(f"what is {form} to me")
        quoted = quoted_reply(error, secret)
        for hidden in forms(secret):
            assert hidden not in quoted
        assert quoted.startswith("what is")
        assert "…" in quoted
        assert cause_without_secret(error, secret) is None


def test_what_is_no_secret_is_quoted_as_it_is():
    error = ValueError("502 No permission for AUTHENTICATE.")
    assert (
        quoted_reply(error, "s3cret") == quoted_reply(error) == "502 No permission for AUTHENTICATE"
    )
    assert cause_without_secret(error, "s3cret") is cause_without_secret(error, "") is error


def test_what_cannot_be_stored_is_replaced():
    assert quoted_reply(ValueError("Acc\udce8s\0 refus\x85\r\n")) == "Acc?s  refus"
    assert quoted_reply(ValueError("\0")) == "ValueError"
    assert len(quoted_reply(ValueError("x" * 1000))) == 200
