"""Discovery: from an e-mail address to the server that has its mail, or that sends it.

    address ─ providers ─> found
       └ domain alone ─ SRV ─ MX ─ autoconfig ─ usual names ─> found, or nothing

What is found fills in a form.  A person reads it before any password is sent there.
"""
