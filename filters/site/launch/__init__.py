"""Start and stop everything that `manage.py up` and `manage.py demo` need.

    data directory claimed ─> Redis, Spark (beside each other), migrate ─> worker, web ─> beat

Every part is a child process in its own process group, with its log in DATA/run.  One that ends
later is started again (`restarts`, `parts`).
"""
