"""Which words a question asks for."""

from __future__ import annotations

from vecdcs.dcs.relations import relation
from vecdcs.dcs.tags import penn_tag
from vecdcs.text.conllu import Token

CLAUSE_BREAKS = frozenset("acl advcl csubj csubj:pass parataxis".split())
WH_TAGS = frozenset("WP WP$ WDT WRB".split())


def question_words(tokens: list[Token]) -> frozenset[int]:
    """The ids of the wh-words that a question asks for: in its main clause, before its root or as its root."""
    root = next((token.id for token in tokens if token.head == 0), 0)
    return frozenset(token.id for token in tokens[:root] if _asks(token, tokens))


def _asks(token: Token, tokens: list[Token]) -> bool:
    return (
        penn_tag(token.upos, token.xpos, token.feats, token.lemma) in WH_TAGS
        and not _measures(token, tokens)
        and not (_heads_clause(token, tokens) and tokens[-1].form != "?")
        and _in_main_clause(token, tokens)
    )


def _measures(token: Token, tokens: list[Token]) -> bool:
    """The *how* of "how many": it asks for a number, which is no thing."""
    if token.lemma != "how" or not token.head:
        return False
    head = tokens[token.head - 1]
    return penn_tag(head.upos, head.xpos, head.feats, head.lemma)[:2] in ("JJ", "RB")


def _heads_clause(token: Token, tokens: list[Token]) -> bool:
    """The *what* of "what he said is true": a free relative, no question."""
    return any(other.head == token.id and relation(other.deprel) == "acl" for other in tokens)


def _in_main_clause(token: Token, tokens: list[Token]) -> bool:
    while token.head:
        if relation(token.deprel) in CLAUSE_BREAKS:
            return False
        token = tokens[token.head - 1]
    return True
