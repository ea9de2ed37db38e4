"""What the measurements share: its examples are true, its mail is as an append leaves it."""

import doctest

import pytest

from tapestry.core.schema import MESSAGES, THREADS
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.threads import all_facts, extend_threads
from tests.bench.support import curve, mail, population, record, texts
from tests.support.all_rows import all_rows


@pytest.mark.parametrize("module", [curve, population, record, texts])
def test_the_examples_of_a_module_are_true(module):
    results = doctest.testmod(module)
    assert results.attempted
    assert results.failed == 0


def test_generated_mail_has_the_facts_about_threads_that_follow_from_it(tmp_path):
    tables = Tables(tmp_path)
    mail.fill(tables, 1_000, 100)
    written = {
        (fact["msgid"], fact["ts"], fact["root"], fact["audience"])
        for fact in all_rows(tables, THREADS)
    }
    derived = {tuple(fact.values()) for fact in all_facts(all_rows(tables, MESSAGES))}
    assert written == derived
    assert not extend_threads(tables)
