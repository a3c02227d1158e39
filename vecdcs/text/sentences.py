"""Where sentences end: a small logistic model over the chunks on both sides of a full stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from vecdcs.text.tokenizer import is_numbered, words

ENDERS = frozenset(".?!…:;")
CLOSERS = "\"')]}”’»*_"
OPENERS = "\"'([{“‘«*_`"
LONGEST = 200
"""Words in a sentence; what is longer is cut, at a semicolon, dash or comma if there is one in its last half."""

QUOTES = frozenset("\"'”’")
DASHES = frozenset(["--", "—", "–", "-"])
SPEECH = frozenset(
    """said says cried replied asked answered exclaimed returned observed remarked added continued whispered shouted
    called repeated muttered murmured interrupted inquired enquired ejaculated demanded thought went began rejoined
    resumed responded screamed sighed growled laughed echoed retorted urged suggested""".split()
)
"""Verbs that follow what was said, and go on with its sentence."""

BREAKS = (";", ("--", "—", "–", ":"), ",")


def candidates(chunks: Sequence[str]) -> Iterator[int]:
    """The positions after which a sentence may end: the chunk ends with a mark, whatever closes after it."""
    for at in range(len(chunks) - 1):
        chunk = chunks[at]
        if chunk[-1] in ENDERS or (chunk[-1] in CLOSERS and chunk.rstrip(CLOSERS)[-1:] in ENDERS):
            yield at


def features(chunks: Sequence[str], at: int, start: int) -> list[str]:
    """What the model sees of the place after `chunks[at]`, in a sentence that began at `start`."""
    chunk, after = chunks[at], chunks[at + 1]
    core = chunk.rstrip(CLOSERS)
    mark = _mark(core)
    closer = chunk[len(core) : len(core) + 1]
    follow = _follow(after)
    last = next((word for word in reversed(words(chunk)) if word not in CLOSERS), "")
    kind = _kind(last)
    first = words(after.lstrip(OPENERS) or after)[0].lower()
    size = at - start + 1
    found = [
        "bias", f"m{mark}", f"m{mark}f{follow}", f"m{mark}c{closer}f{follow}", f"k{kind}", f"k{kind}f{follow}",
        f"n{first}", f"m{mark}s{min(size, 4)}", f"s{min(size // 5, 6)}",
    ]  # fmt: skip
    if kind != "other":
        found += [f"a{last.lower()}", f"k{kind}n{first}", f"a{last.lower()}f{follow}"]
    return found


def vetoed(chunks: Sequence[str], at: int) -> bool:
    """Places where prose goes on, unlike web text: `"Why?" he said`, `Why? asked John`, `no. 5`, `; 2. The`."""
    chunk, after = chunks[at], chunks[at + 1]
    if after[0].isdigit():
        return is_numbered(chunk)
    if after in DASHES or after.rstrip(",.:;") in SPEECH or _is_item(chunks, at):
        return True
    if after[0].islower():
        return chunk[-1] in QUOTES or chunk == "."
    asked = chunk[-1] in QUOTES and chunk[-2:-1] in ("?", "!")
    return asked and at + 2 < len(chunks) and chunks[at + 2].rstrip(",.:;") in SPEECH


def _is_item(chunks: Sequence[str], at: int) -> bool:
    """The number of an item inside a sentence: `two causes: 1. The`."""
    return len(chunks[at]) < 4 and chunks[at][:-1].isdigit() and at > 0 and chunks[at - 1][-1] in ",;:"


def boundaries(chunks: Sequence[str], weights: Mapping[str, float]) -> list[int]:
    """The positions after which a sentence ends, without the last."""
    found: list[int] = []
    start = 0
    known: Callable[[str, float], float] = weights.get
    for at in candidates(chunks):
        if not vetoed(chunks, at) and sum(known(name, 0.0) for name in features(chunks, at, start)) > 0:
            found.append(at)
            start = at + 1
    return found


def limited(forms: Sequence[str]) -> list[int]:
    """Where to cut a sentence that is too long, as ends of its parts; the last is its length."""
    ends: list[int] = []
    start = 0
    while len(forms) - start > LONGEST:
        start = _cut(forms, start)
        ends.append(start)
    return [*ends, len(forms)]


def _cut(forms: Sequence[str], start: int) -> int:
    for marks in BREAKS:
        for at in range(start + LONGEST - 1, start + LONGEST // 2, -1):
            if forms[at] in marks:
                return at + 1
    return start + LONGEST


def _mark(core: str) -> str:
    if core.endswith(".."):
        return ".."
    return core[-1:] if core[-2:-1] not in ENDERS else "!!"


def _follow(after: str) -> str:
    """The cut of the next chunk's first letter, and whether something opens before it."""
    core = after.lstrip(OPENERS)
    opened = after[0] if core is not after and after[0] in OPENERS else ""
    if not core:
        return opened + "0"
    first = core[0]
    kind = "U" if first.isupper() else "l" if first.islower() else "d" if first.isdigit() else first
    return opened + kind


def _kind(last: str) -> str:
    """Is the mark's word an abbreviation, an initial, a number?"""
    if len(last) > 1 and last[-1] == "." and last[0] != ".":
        return "initial" if len(last) == 2 else "acronym" if "." in last[:-1] else "abbreviation"
    return "other"
