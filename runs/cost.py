"""Run one step and note what it cost: python runs/cost.py LOG NAME COMMAND … adds a line of JSON to LOG."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path


def main(log: str, name: str, *command: str) -> int:
    """The command's exit code; its wall and CPU seconds, and the memory of its largest process, go to the log."""
    start = time.monotonic()
    code = subprocess.run(command, check=False).returncode
    wall, used = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"wall_seconds": round(wall, 1), "cpu_seconds": round(used.ru_utime + used.ru_stime, 1)}
    line = {"step": name, **cost, "megabytes": used.ru_maxrss // 1024, "exit": code}
    with Path(log).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
