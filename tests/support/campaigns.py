"""One law, two campaigns: a few random examples in `make test`, many in `make test-long`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Law = Callable[..., None]

QUIETLY = settings(deadline=None, suppress_health_check=list(HealthCheck))


def campaigns(
    few: int, many: int, *drawn: st.SearchStrategy[Any], **named: st.SearchStrategy[Any]
) -> Callable[[Law], Law]:
    """Return a decorator: what is drawn is given to the law, what is left is asked of pytest."""

    def decorate(law: Law) -> Law:
        def on_examples(examples: int, **asked: object) -> None:
            campaign: Any = given(*drawn, **named)(law)
            settings(QUIETLY, max_examples=examples)(campaign)(**asked)

        test: Any = on_examples
        test.__name__, test.__doc__, test.__module__ = law.__name__, law.__doc__, law.__module__
        examples = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        left = inspect.signature(given(*drawn, **named)(law)).parameters.values()
        test.__signature__ = inspect.Signature([examples, *left])
        sizes = [few, pytest.param(many, marks=pytest.mark.long)]
        decorated: Law = pytest.mark.parametrize("examples", sizes)(test)
        return decorated

    return decorate
