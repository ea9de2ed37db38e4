"""The REST API (``/api/v1/``) and the personal tokens by which programs use it.

    program ─ Authorization: Bearer … ─> authentication ─> calls ─> the same functions as the pages

A call sees and does what its token's owner does on the pages, as far as the token's scopes go.
"""
