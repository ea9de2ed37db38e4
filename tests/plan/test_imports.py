"""The compiler needs neither the application nor a JVM."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module", ["tapestry.rewrite", "tapestry.rewrite.pipeline", "tapestry.plan.explain"]
)
def test_importing_the_compiler_brings_neither_django_nor_celery_nor_pyspark(module):
    program = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    imported = set(ran.stdout.split())
    assert "tapestry" in imported
    assert not imported & {"django", "celery", "pyspark", "filters", "deltalake", "pyarrow"}
