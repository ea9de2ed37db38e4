"""The REST API (``/api/v1/``), the tokens by which programs use it, and all that is connected.

    program ─ Authorization: Bearer … ─> idempotency ─> authentication ─> calls ┐
                                     the same forms and functions as the pages <┘

A call sees and does what its token's owner does on the pages, as far as the token's scopes go.
"""
