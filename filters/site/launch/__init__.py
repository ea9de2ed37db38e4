"""Start and stop everything that `manage.py up` and `manage.py demo` need.

    data directory claimed ─> Redis, migrate ─> worker, web ─> beat
                              Spark, once a statement needs it

Every part is a child process in its own process group, with its log in DATA/run.  One that ends
later is started again (`restarts`, `parts`).
"""
