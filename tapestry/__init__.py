"""Mail and news that filter themselves.

    text ─ query ─> CheckedQuery ─ rewrite ─> NormalQuery ─> MonotoneQuery ─> IncrementalQuery
                                                                                    │ plan
    source ─ ingest ─> Message ─ tables ─> rows, visible from ts ─┐                 v
                                                                  └─ run ─> matches ─ deliver

Rooms import only those to their right: ``client`` > ``compose`` > ``deliver | ingest`` > ``run`` >
``predicate_index | spark`` > ``tables | plan`` > ``rewrite`` > ``query`` > ``core``.  No room
imports Django, Celery or ``filters``; what a room needs of the application comes in through
a Protocol of ``tapestry.core.ports``.
"""

VERSION = "1.0.0"
"""The version of the program, as pyproject.toml has it."""
