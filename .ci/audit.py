"""Ask the advisory services about every requirement, with pip-audit, where the network allows it.

Options are pip-audit's own; without any, PyPI is asked, and OSV where PyPI does not answer.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

FILES = ("requirements.txt", "tests/requirements.txt")
SERVICES = (["--vulnerability-service", "pypi"], ["--vulnerability-service", "osv"])


UNREACHED = re.compile(
    r"requests\.exceptions\.(ConnectionError|ConnectTimeout|ReadTimeout|ProxyError): "
    r"|.*Could not connect to .*'s vulnerability feed"
)
"""The last line of pip-audit, or the one before its tip, where a service cannot be reached."""


class AuditError(Exception):
    """What pip-audit wrote to its standard error, where it failed in another way."""


def report(options: list[str]) -> list[dict]:
    """Return pip-audit's entry for each requirement that the service knows, if it answers.

    Raises AuditError if pip-audit fails, unless it is that the service cannot be reached.
    """
    files = [part for name in FILES for part in ("--requirement", name)]
    command = [Path(sys.executable).with_name("pip-audit"), "--disable-pip", "--require-hashes"]
    command += ["--progress-spinner=off", "--format=json", *files, *options]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.stdout.strip():
        entries = json.loads(ended.stdout)["dependencies"]
        return [entry for entry in entries if "vulns" in entry]
    if any(UNREACHED.match(line) for line in ended.stderr.strip().splitlines()[-2:]):
        return []
    raise AuditError(ended.stderr)


def main(options: list[str]) -> int:
    """Print one sentence for each known vulnerability; return 1 if there is one, or it fails."""
    for service in [options] if options else SERVICES:
        try:
            entries = report(service)
        except AuditError as error:
            print(f"pip-audit failed: the requirements were not audited.\n{error}", file=sys.stderr)
            return 1
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
