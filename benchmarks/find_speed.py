"""How fast a forest is searched: queries of one to three edges, warm, the median of several runs.

    python benchmarks/find_speed.py FOREST [QUERY...]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from vecdcs.corpus.across import find_across
from vecdcs.corpus.evidence import Evidence, Found
from vecdcs.corpus.forest import Forest
from vecdcs.dcs.notation import parse

QUERIES = (
    "_ & write/V.COMP",
    "book/N & write/V.COMP",
    "write/V & SUBJ:_ & COMP:_",
    "write/V & SUBJ:he/P & COMP:(book/N & first/J.SUBJ)",
    "_ & (make/V & SUBJ:man/N & COMP:_).COMP",
    "have/V & SUBJ:it/P & COMP:(number/N & large/J.SUBJ)",
    "become/V & SUBJ:(_ & young/J.SUBJ) & COMP:_",
)
ACROSS = ("_ & country/N & attack/V.COMP", "attack/V & SUBJ:country/N & COMP:(country/N & rich/J.SUBJ)")
RUNS = 7


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("forest", type=Path)
    arguments.add_argument("queries", nargs="*")
    options = arguments.parse_args()
    forest = Forest.open(options.forest)
    evidence = Evidence(forest)
    times: dict[str, float] = {}
    for query in options.queries or QUERIES:
        times[query] = report(query, partial(evidence.find, parse(query)))
    for query in () if options.queries else ACROSS:
        times[f"{query} --across"] = report(query, partial(find_across, evidence, parse(query)))
    print(json.dumps({"words": forest.totals["words"], "seconds": times}))


def report(query: str, run: Callable[[], Found]) -> float:
    """The median time of warm runs; prints it with the number of matches."""
    found = run()
    seconds = []
    for _ in range(RUNS):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    print(f"{median(seconds) * 1000:8.0f} ms  {found.matches:9,} matches  {query}", flush=True)
    return median(seconds)


if __name__ == "__main__":
    main()
