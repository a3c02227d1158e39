"""The served page under load: many clients on the loopback address, each asking question after question.

Starts `vecdcs serve` with a model (and a forest, if given) on a free port, lets the clients ask for some seconds, and
tells requests, errors and the percentiles of latency. Questions differ from turn to turn; nothing is cached. Clients
and server share the machine. The CPU time includes the start of the server.

    python benchmarks/web_load.py MODEL [--corpus FOREST] [--clients 50] [--seconds 30]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx

from vecdcs.corpus.vocabulary import UNKNOWN, Vocabulary

SHAPES = (
    ("ask", "{n} & {v}.COMP"),
    ("ask", "_ & ({v} & COMP:{n}).SUBJ"),
    ("ask", "_ & ({v} & SUBJ:{m} & COMP:{n}).in"),
    ("ask", "Who sells {N}?"),
    ("ask", "{N} banned by Canada"),
    ("explain", "{n} & {v}.COMP"),
)


def body(rng: random.Random, nouns: list[str], verbs: list[str]) -> tuple[str, dict[str, object]]:
    """A request of one of the shapes, with words of the vocabulary."""
    path, shape = rng.choice(SHAPES)
    noun, other, verb = rng.choice(nouns), rng.choice(nouns), rng.choice(verbs)
    text = shape.format(n=f'"{noun}"', m=f'"{other}"', v=f'"{verb}"', N=noun.rpartition("/")[0])
    return path, {"text": text, "words": [other]} if path == "explain" else {"text": text, "k": 10}


async def client(number: int, url: str, words: tuple[list[str], list[str]], until: float) -> list[tuple[int, float]]:
    """Status and seconds of each request of one client."""
    rng = random.Random(number)
    done = []
    async with httpx.AsyncClient(base_url=url, timeout=120) as session:
        while time.monotonic() < until:
            path, asked = body(rng, *words)
            start = time.perf_counter()
            response = await session.post(f"/api/{path}", json=asked)
            done.append((response.status_code, time.perf_counter() - start))
    return done


async def load(url: str, words: tuple[list[str], list[str]], clients: int, seconds: float) -> list[tuple[int, float]]:
    """All requests of all clients."""
    until = time.monotonic() + seconds
    found = await asyncio.gather(*(client(number, url, words, until) for number in range(clients)))
    return [each for some in found for each in some]


def report(done: list[tuple[int, float]], seconds: float, server: float) -> dict[str, object]:
    """Requests, errors, percentiles of latency, and the CPU time that the server took for a request."""
    times = sorted(taken for _, taken in done)
    at = {f"p{share}_ms": round(1000 * times[len(times) * share // 100], 1) for share in (50, 95, 99)}
    return {
        "requests": len(done),
        "per_second": round(len(done) / seconds, 1),
        "statuses": dict(Counter(str(status) for status, _ in done)),
        **at,
        "longest_ms": round(1000 * times[-1], 1),
        "server_cpu_ms": round(1000 * server / len(done), 1),
        "load_average": round(os.getloadavg()[0], 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    names = [word for word in Vocabulary.load(options.model).words[:5000] if not word.startswith(UNKNOWN)]
    words = [word for word in names if word.endswith("/N")], [word for word in names if word.endswith("/V")]
    command = [sys.executable, "-u", "-m", "vecdcs", "serve", "-m", str(options.model), "--port", "0"]
    command += ["--corpus", str(options.corpus)] if options.corpus else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        try:
            assert address, "the server did not start"
            done = asyncio.run(load(address[0], words, options.clients, options.seconds))
        finally:
            server.terminate()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps(report(done, options.seconds, spent.ru_utime + spent.ru_stime)))
    return int(any(status != 200 for status, _ in done))


if __name__ == "__main__":
    sys.exit(main())
