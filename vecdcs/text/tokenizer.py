"""Raw text to words: rules on whitespace-separated chunks, each chunk's words remembered."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_CHUNK = 200
"""A longer run without a space is cut: no word is that long, and no rule may take more than linear time."""

CACHE_SIZE = 400_000
LONGEST_CACHED = 32

ABBREVIATIONS = """
Adm Art Assn Assoc Attn Aug Ave Bart Bhd Blvd Brig Bros Capt Cf Cie Cmdr Co Col Comdr Conn Corp Cpl Dec Dept Dist Dr
Drs Ed Eng Esq Est Feb Fig Figs Fla Fr Fri Ft Ga Gen Gov Hon Inc Jan Jas Jr Kan Lieut Lt Ltd Maj Mar Mass Messrs Mgr
Mich Minn Mlle Mme Mon Mr Mrs Ms Msgr Mt Mts Nos Nov Oct Okla Ont Op Pa Penn Ph Prof Pte Pvt Que Rep Reps Rev Sat Sec
Sen Sens Sept Sgt Sr St Ste Supt Tenn Tex Thos Thur Thurs Treas Tue Tues Univ Va Vol Vols Vt Wed Wis Wm
approx al ca cf ed eds eg esp est et fl ibid incl pp p viz vol vols vs v yrs etc ext div
""".split()
"""Words whose full stop belongs to them; others only before a number (`is_numbered`)."""

PREFIXES = """
anti arch bi co counter cross de e ex extra hyper infra inter intra macro mega meta micro mid mini mis multi neo non
over pan para post pre pro proto pseudo psycho quasi re semi socio sub super trans tri ultra un under
""".split()
"""First parts that stay with their hyphen, as in the treebanks; other hyphened words are split at the hyphen."""

UNITS = "am pm a\\.m\\. p\\.m\\. k m mm cm km kg g mg lb lbs ft in mi mph hz khz mhz ghz gb mb kb kw mw bn".split()

JOINED = {
    "cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "lemme": 3, "gimme": 3, "dunno": 2,
    "dont": 2, "didnt": 3, "doesnt": 4, "isnt": 2, "wasnt": 3, "havent": 4, "couldnt": 5, "wouldnt": 5, "wont": 2,
    "cant": 2,
    "'tis": 2, "'twas": 2, "'twere": 2, "'twill": 2, "'twould": 2, "’tis": 2, "’twas": 2, "d'ye": 2,
}  # fmt: skip
"""Two words written as one: where to cut."""

_NUMBER = r"\d+(?:,\d{3}(?!\d)|[.:/]\d+)*"
_CLITIC = r"['’](?:s|re|ve|ll|d|m)(?!\w)"

_TOKEN = re.compile(
    "|".join(
        [
            r"(?:https?://|www\.)[^\s<>\"]*[\w/]",
            r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
            r"[:;]-?[)(DP](?!\w)",
            rf"(?:{'|'.join(sorted(ABBREVIATIONS, key=len, reverse=True))})\.(?=\W|$)(?!\.)",
            r"(?:[^\W\d_]\.){2,}(?!\w)",
            r"Ph\.D\.?",
            r"[A-HJ-Z]\.(?=$|[,)'’])",
            r"\d+(?:-\d+){2,}|\d{3}-\d{4}(?!\d)",
            rf"{_NUMBER}(?:st|nd|rd|th|s)(?!\w)|\d+0['’]s(?!\w)",
            rf"{_NUMBER}(?=(?i:{'|'.join(UNITS)})(?!\w))",
            rf"{_NUMBER}(?!\w)|\.\d+(?!\w)",
            r"['’]\d\d(?:s|['’]s)?(?!\w)",
            r"(?i:n['’]t)(?!\w)",
            rf"(?i:{_CLITIC})",
            r"['’](?i:em|til|bout|cause|im|er|tis|twas|twere|twill|twould)(?!\w)",
            rf"(?i:{'|'.join(PREFIXES)})-\w+(?:['’]\w+)?(?=\W|$)(?!['’-])",
            r"\w+?(?=(?i:n['’]t)(?!\w))",
            rf"\w(?:[\w\u0300-\u036f]|(?!(?i:{_CLITIC}))['’](?=\w)|&(?=\w)|\.(?=[\da-z])|(?<![a-z])\.(?=[A-Z]))*",
            r"\[\.\.\.\]",
            r"[.!?]*[!?][.!?]*|\.{2,}|-{2,}|—+|–|={2,}|\*{2,}|~{2,}|<{2,}|>{2,}|''|``|,,",
            r"\S",
        ]
    )
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\ufeff\ud800-\udfff]")
_NUMBERED = re.compile(r"(?:[Nn]os?|Jul|Jun|Apr)\.|[a-z]\.")
_cache: dict[str, tuple[str, ...]] = {}


def chunks(text: str) -> list[str]:
    """The text cut at whitespace; control characters, which no CoNLL-U cell may hold, count as spaces."""
    if _CONTROL.search(text):
        text = _CONTROL.sub(" ", text)
    found = text.split()
    if len(text) > LONGEST_CHUNK and any(len(chunk) > LONGEST_CHUNK for chunk in found):
        return [piece for chunk in found for piece in _pieces(chunk)]
    return found


def words(chunk: str) -> tuple[str, ...]:
    """The words of one chunk: `"couldn't,"` is `could`, `n't` and `,`."""
    found = _cache.get(chunk)
    if found is None:
        found = _split(chunk)
        if len(chunk) <= LONGEST_CACHED:
            if len(_cache) >= CACHE_SIZE:
                _cache.clear()
            _cache[chunk] = found
    return found


def tokenize(text: str) -> list[tuple[str, ...]]:
    """The words of every chunk of a text: words of one chunk have no space between them."""
    found = chunks(text)
    return joined(found, [words(chunk) for chunk in found])


def joined(found: Sequence[str], words_of: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """`No. 5`: the full stop belongs to the abbreviation only before a number."""
    for at, chunk in enumerate(found[:-1]):
        if chunk[-1] == "." and found[at + 1][0].isdigit() and is_numbered(chunk):
            core = chunk.lstrip("([")
            words_of[at] = (*chunk[: len(chunk) - len(core)], core)
    return words_of


def is_numbered(chunk: str) -> bool:
    """`No.`, `c.`: an abbreviation if a number follows."""
    return len(chunk) < 6 and _NUMBERED.fullmatch(chunk.lstrip("([")) is not None


def _pieces(chunk: str) -> list[str]:
    return [chunk[start : start + LONGEST_CHUNK] for start in range(0, len(chunk), LONGEST_CHUNK)]


def _split(chunk: str) -> tuple[str, ...]:
    if chunk.isalpha() and chunk.lower() not in JOINED:
        return (chunk,)
    found: list[str] = []
    for word in _TOKEN.findall(chunk):
        cut = JOINED.get(word.lower())
        found.extend((word[:cut], word[cut:]) if cut else (word,))
    return tuple(found)
