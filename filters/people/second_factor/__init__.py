"""Second factors: codes of an app (TOTP), passkeys (WebAuthn), and recovery codes.

    password ─> a stage in the session: nobody is signed in ─> code or passkey ─> signed in

What was typed is counted as passwords are (filters.people.signing_in): nobody tries all codes.
"""
