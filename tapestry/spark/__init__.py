"""Spark: its server, this process's session, and statements answered by it."""

import os

# gRPC reads it as it is imported.  Its handlers of a fork can abort a program that is started
# with something to do between fork and exec, before it has begun.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
