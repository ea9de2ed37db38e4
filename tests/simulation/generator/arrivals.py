"""Mail that comes, and what strangers say of it, as a source or a program brings it."""

from __future__ import annotations

from tests.simulation.generator.cast import Cast
from tests.simulation.generator.mail import Row


def bring_mail(cast: Cast, size: int = 0, again: float = 0.08) -> None:
    """Have mail come, as a source brings it: the same batch again until it is in."""
    submit(cast, cast.mail.batch(cast.world.now, cast.audiences, size, again))


def submit(cast: Cast, rows: list[Row]) -> None:
    """Have a batch of mail come."""
    cast.batches += 1
    shown = [{k: v for k, v in row.items() if k not in ("raw", "copy")} for row in rows]
    sent = [{k: v for k, v in row.items() if k != "copy"} for row in rows]
    receipt = cast.order("append", messages=sent, cursor=("box", cast.batches))
    told = [
        {**s, "copy": True} if row.get("copy") else s for s, row in zip(shown, rows, strict=True)
    ]
    cast.history.add("submitted", table="messages", rows=told, origin="append", receipt=receipt)
