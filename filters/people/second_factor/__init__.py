"""Second factors: codes of an app (TOTP), passkeys (WebAuthn), and recovery codes.

    password ─> signed in, but pending: nobody to every page ─> code or passkey ─> signed in

What was typed is counted as passwords are (filters.people.signing_in): nobody tries all codes.
"""
