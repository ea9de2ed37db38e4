"""What the worker does for appraisers: keep the scores."""

from __future__ import annotations

from filters.appraisal import upkeep
from filters.runtime import services
from filters.runtime.queue import APPRAISE, send
from tapestry.celery import app


@app.task(name=APPRAISE, ignore_result=True)
def appraise() -> None:
    """Compute the scores that are stale; what is left then is asked for at once."""
    with upkeep.alone() as acquired:
        left = acquired and upkeep.appraise(services.tables())
    if left:
        send(appraise, (), otherwise="The rest is appraised by the clock")
