"""How the token of a program ends while the program waits."""

from __future__ import annotations

from django.db.models import Model

from filters.api.models import AccessToken
from filters.people.models import User

ENDINGS: list[tuple[type[Model], dict[str, int]]] = [
    (AccessToken, {}),
    (AccessToken, {"ends_at": 1}),
    (User, {"is_active": False}),
]
"""Of each way the model whose rows change, and how: deleted for nothing."""


def end_all(of: type[Model], changed: dict[str, int]) -> None:
    """Have all tokens end in a way of ENDINGS."""
    rows = of._default_manager.all()
    rows.update(**changed) if changed else rows.delete()
