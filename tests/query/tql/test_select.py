"""What is read as SQL means what a database says that it means."""

import pytest

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.support.campaigns import campaigns
from tests.support.generators.rows import AUDIENCES, LAST, data
from tests.support.oracle.queries import Oracle
from tests.support.oracle.standing import stands

VOTES = "FROM messages m JOIN annotations a ON a.msgid = m.msgid"
SELECTS = [
    "SELECT m.msgid FROM messages m WHERE (SELECT COUNT(*) FROM annotations a "
    "WHERE a.msgid = m.msgid AND a.kind = 'vote') >= 2",
    "SELECT m.msgid FROM messages m WHERE 2 > (SELECT COUNT(DISTINCT r.msgid) FROM messages r "
    "WHERE r.inreplyto = m.msgid)",
    "SELECT m.msgid FROM messages m WHERE NOT (SELECT SUM(a.number) FROM annotations a "
    "WHERE a.msgid = m.msgid) > 0",
    f"SELECT m.msgid {VOTES} GROUP BY m.msgid HAVING COUNT(*) > 1",
    f"SELECT m.msgid {VOTES} WHERE a.kind = 'vote' GROUP BY m.msgid HAVING COUNT(*) < 3",
    f"SELECT m.msgid {VOTES} GROUP BY m.msgid HAVING AVG(a.number) <= 0 OR COUNT(*) = 0",
    f"SELECT m.msgid {VOTES} GROUP BY m.msgid HAVING NOT MAX(a.number) >= 1",
    f"SELECT m.msgid {VOTES} GROUP BY m.msgid HAVING COUNT(a.number) BETWEEN 0 AND 1",
    "SELECT r.msgid FROM messages m, messages r WHERE r.inreplyto = m.msgid GROUP BY r.msgid "
    "HAVING COUNT(DISTINCT m.sender) <= 1",
    f"SELECT m.msgid {VOTES} GROUP BY m.msgid ORDER BY COUNT(*) DESC, m.msgid LIMIT 2",
    f"SELECT m.msgid {VOTES} WHERE a.number > -2 GROUP BY m.msgid HAVING COUNT(*) < 3 "
    "ORDER BY SUM(a.number) DESC, m.msgid LIMIT 1",
    "SELECT m.msgid FROM messages m WHERE m.msgid IN (SELECT a.msgid FROM annotations a "
    "GROUP BY a.msgid HAVING COUNT(DISTINCT a.owner) > 1)",
    "SELECT m.msgid FROM messages m WHERE m.msgid NOT IN (SELECT a.msgid FROM annotations a "
    "WHERE a.owner <> 'Joe' GROUP BY a.msgid HAVING SUM(a.number) < 1 OR COUNT(*) < 2)",
    "SELECT m.msgid FROM messages m WHERE m.inreplyto IN (SELECT p.msgid FROM messages p, "
    "messages r WHERE r.inreplyto = p.msgid AND r.msgid <> m.msgid GROUP BY p.msgid "
    "HAVING COUNT(*) < 2)",
    "SELECT m.msgid FROM messages m WHERE m.msgid NOT IN (SELECT x.msgid FROM messages x "
    "JOIN annotations a ON a.msgid = x.msgid GROUP BY x.msgid "
    "ORDER BY COUNT(*) DESC, x.msgid LIMIT 2)",
    f"SELECT m.msgid {VOTES} GROUP BY m.msgid HAVING COUNT(*) > 2 UNION "
    "SELECT m.msgid FROM messages m WHERE m.inreplyto IS NULL",
]


@pytest.mark.parametrize("text", SELECTS)
@campaigns(15, 40, rows=data(crowded=True))
def test_a_select_finds_what_a_database_finds(text, rows):
    """A database knows nothing of retractions: it is given what stands."""
    notes = rows["annotations"]
    rows = rows | {"annotations": [note for note in notes if stands(note, notes, LAST)]}
    world = Oracle(read(text, Context()), rows, AUDIENCES)
    assert world.answer(LAST) == {msgid for (msgid,) in world.db.execute(text)}
