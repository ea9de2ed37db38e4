"""Events of the log are one line each."""

import logging
from typing import Any

from django.conf import settings

from tapestry.core.log import event


def test_it_logs_one_line_at_level_info(caplog):
    with caplog.at_level(logging.INFO):
        event("tick", until=5, error='a "b"\nc', share=0.5, empty="")
    assert caplog.messages == ['tick until=5 error="a \\"b\\"\\nc" share=0.500 empty=""']
    assert caplog.records[0].name == __name__
    assert caplog.records[0].funcName == "test_it_logs_one_line_at_level_info"


def test_events_of_the_product_are_let_through_and_nobody_elses():
    assert settings.LOGGING["root"]["level"] == "WARNING"
    loggers: Any = settings.LOGGING["loggers"]
    levels = {name: given.get("level") for name, given in loggers.items()}
    assert {name for name, level in levels.items() if level == "INFO"} == {"tapestry", "filters"}
