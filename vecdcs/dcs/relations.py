"""UD relations under the names the rules know."""

from __future__ import annotations

from functools import lru_cache

# UD v1 names, and v2 names that say the same thing for our purpose.
ALIASES = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "dobj": "obj",
    "auxpass": "aux:pass",
    "mwe": "fixed",
    "name": "flat",
    "neg": "advmod",
    "nmod:tmod": "obl:tmod",
    "nmod:npmod": "obl:npmod",
    "obl:unmarked": "obl:npmod",
    "nmod:unmarked": "obl:npmod",
    "nmod:desc": "compound",
    "acl:relcl": "acl",
    "advcl:relcl": "acl",
}
KEPT_SUBTYPES = frozenset(
    "nsubj:pass nsubj:outer csubj:pass aux:pass compound:prt nmod:poss obl:tmod obl:npmod obl:agent".split()
)


@lru_cache(maxsize=4096)
def relation(deprel: str) -> str:
    """The relation by which the rules know `deprel`: v1 names renamed, other subtypes cut off."""
    name = ALIASES.get(deprel, deprel)
    return name if name in KEPT_SUBTYPES else name.partition(":")[0]
