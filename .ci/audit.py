"""Ask the advisory services about every requirement, with pip-audit, where the network allows it.

Options are pip-audit's own; without any, PyPI is asked, and OSV where PyPI does not answer.
"""

import json
import subprocess
import sys
from pathlib import Path

FILES = ("requirements.txt", "tests/requirements.txt")
SERVICES = (["--vulnerability-service", "pypi"], ["--vulnerability-service", "osv"])


def report(options: list[str]) -> list[dict]:
    """Return pip-audit's entry for each requirement that the service knows, if it answers."""
    files = [part for name in FILES for part in ("--requirement", name)]
    command = [Path(sys.executable).with_name("pip-audit"), "--disable-pip", "--require-hashes"]
    command += ["--progress-spinner=off", "--format=json", *files, *options]
    printed = subprocess.run(command, capture_output=True, text=True).stdout
    entries = json.loads(printed)["dependencies"] if printed.strip() else []
    return [entry for entry in entries if "vulns" in entry]


def main(options: list[str]) -> int:
    """Print one sentence for each known vulnerability, and return 1 if there is one."""
    for service in [options] if options else SERVICES:
        entries = report(service)
        if entries:
            break
    else:
        print("No advisory service answers here: the requirements were not audited.")
        return 0
    sentences = [
        f"{entry['name']} {entry['version']} has a known vulnerability, {vulnerability['id']}: "
        f"take {' or '.join(vulnerability['fix_versions']) or 'another library'}."
        for entry in entries
        for vulnerability in entry["vulns"]
    ]
    print("\n".join(sentences) or f"No known vulnerability in {len(entries)} requirements.")
    return bool(sentences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
