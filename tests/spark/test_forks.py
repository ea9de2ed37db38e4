"""A program started beside calls to Spark: nothing of gRPC's runs in it before it begins."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.paths import ROOT

CALLING = """
import sys, threading
from concurrent import futures
from pathlib import Path
import tapestry.spark
if sys.argv[1:]:
    import os
    del os.environ["GRPC_ENABLE_FORK_SUPPORT"]
import grpc
from tapestry.core.processes.child_process import spawn

class Echo(grpc.GenericRpcHandler):
    def service(self, call):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: request)

server = grpc.server(futures.ThreadPoolExecutor(1))
server.add_generic_rpc_handlers((Echo(),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/echo")
for _ in range(20):
    call(b"")
    assert spawn("true", ["true"], Path("/dev/null")).process.wait() == 0
server.stop(None).wait()
"""


@pytest.mark.parametrize("without", [False, True])
def test_a_fork_runs_none_of_grpcs_handlers(without):
    """Without our word they run: they say so where other threads are busy with gRPC."""
    done = subprocess.run(
        [sys.executable, "-c", CALLING, *["without"] * without],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 or without, done.stderr
    assert ("fork() handlers" in done.stderr) == without, done.stderr
