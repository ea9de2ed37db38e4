"""Mail and news that filter themselves.

    text ─ query ─> CheckedQuery ─ rewrite ─> NormalQuery ─> MonotoneQuery ─> IncrementalQuery
                                                                                    │ plan
    source ─ ingest ─> Message ─ tables ─> rows, visible from ts ─┐                 v
                                                                  └─ run ─> matches ─ deliver

Rooms, and who may import whom: ``deliver | ingest`` > ``run`` > ``tables | plan`` >
``rewrite`` > ``query`` > ``core``.  No room knows Django, Celery or ``filters``; what a
room needs of the application comes in through a Protocol of ``tapestry.core.ports``.
"""
