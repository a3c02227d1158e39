"""Sentences to trees: the paper's figures, questions, whole treebanks, and the authors' own trees."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from vecdcs.dcs.convert import Node, convert, convert_ud, sentence_trees, to_tree
from vecdcs.dcs.notation import parse
from vecdcs.dcs.rules import example_sentence
from vecdcs.text.conllu import Sentence, Token, read_conllu

DELAY = "Smoke=smoke|NN|2|nsubj causes=cause|VBZ|0|root flight|NN|4|compound delays=delay|NNS|2|obj"

FIGURES = {
    "figure 1: banned drugs": ("banned=ban|VBN|2|amod drugs=drug|NNS|0|root", "drug/N & ban/V.COMP"),
    "figure 2: a man sells banned drugs": (
        "a|DT|2|det man|NN|3|nsubj sells=sell|VBZ|0|root banned=ban|VBN|5|amod drugs=drug|NNS|3|obj",
        "sell/V & SUBJ:man/N & COMP:(drug/N & ban/V.COMP)",
    ),
    "figure 3a: play on the grass": (
        "kids=kid|NNS|2|nsubj play|VBP|0|root on|IN|5|case the|DT|5|det grass|NN|2|obl",
        "play/V & SUBJ:kid/N & grass/N.on",
    ),
    "figure 3b: a relative clause": (
        "a|DT|2|det drug|NN|0|root that|WDT|5|obj Canada|NNP|5|nsubj banned=ban|VBD|2|acl:relcl",
        "drug/N & (ban/V & SUBJ:canada/N).COMP",
    ),
}

QUESTIONS = {
    "Who|WP|2|nsubj sells=sell|VBZ|0|root drugs=drug|NNS|2|obj ?|.|2|punct": "_ & (sell/V & COMP:drug/N).SUBJ",
    "What=what|WP|4|obj did=do|VBD|4|aux Canada|NNP|4|nsubj ban|VB|0|root ?|.|4|punct":
        "_ & (ban/V & SUBJ:canada/N).COMP",
    "Where=where|WRB|4|advmod do|VBP|4|aux students=student|NNS|4|nsubj live|VB|0|root ?|.|4|punct":
        "_ & where:(live/V & SUBJ:student/N)",
    "Where=where|WRB|0|root is=be|VBZ|1|cop Paris|NNP|1|nsubj ?|.|1|punct": "_ & where:paris/N",
    "Who=who|WP|0|root is=be|VBZ|1|cop the|DT|4|det king|NN|1|nsubj of|IN|6|case France|NNP|4|nmod ?|.|1|punct":
        "_ & (king/N & france/N.of)",
    "Which|WDT|2|det drugs=drug|NNS|5|obj did=do|VBD|5|aux Canada|NNP|5|nsubj ban|VB|0|root":
        "_ & (drug/N & (ban/V & SUBJ:canada/N).COMP)",
    "In=in|IN|3|case which|WDT|3|det town|NN|6|obl do|VBP|6|aux you|PRP|6|nsubj live|VB|0|root ?|.|6|punct":
        "_ & (town/N & in:(live/V & SUBJ:you/P))",
    "Whose=whose|WP$|2|nmod:poss dog|NN|3|nsubj barks=bark|VBZ|0|root ?|.|3|punct": "_ & \"'s\":(dog/N & bark/V.SUBJ)",
    "What=what|WP|6|obj does=do|VBZ|4|aux he|PRP|4|nsubj want|VB|0|root to|TO|6|mark buy|VB|4|xcomp ?|.|4|punct":
        "_ & (buy/V & SUBJ:(want/V & SUBJ:he/P).SUBJ).COMP",
    "The|DT|2|det drug|NN|5|nsubj:pass _|NNP|2|appos is=be|VBZ|5|aux:pass banned=ban|VBN|0|root":
        "ban/V & COMP:(drug/N & _)",
    "What=what|WP|5|nsubj he|PRP|3|nsubj said=say|VBD|1|acl:relcl is=be|VBZ|5|cop true|JJ|0|root":
        "true/J & SUBJ:(say/V & SUBJ:he/P).COMP",
    "How=how|WRB|2|advmod many|JJ|3|amod books=book|NNS|6|obj did=do|VBD|6|aux he|PRP|6|nsubj read|VB|0|root":
        "read/V & SUBJ:he/P & COMP:(book/N & many/J.SUBJ)",
    "How=how|WRB|0|root is=be|VBZ|1|cop she|PRP|1|nsubj ?|.|1|punct": "_ & how:she/P",
    "When=when|WRB|3|advmod he|PRP|3|nsubj came=come|VBD|5|advcl she|PRP|5|nsubj left=leave|VBD|0|root":
        "leave/V & (come/V & SUBJ:he/P).when & SUBJ:she/P",
}  # fmt: skip

CONSTRUCTIONS = {
    "It|PRP|2|nsubj burned=burn|VBD|0|root down|RP|2|compound:prt because|IN|6|case of|IN|4|fixed rain|NN|2|obl":
        '"burn down/V" & SUBJ:it/P & rain/N."because of"',
    "12,000|CD|2|nummod men=man|NNS|0|root": "man/N & *NUMERAL*/N",
    "drugs=drug|NNS|0|root that|IN|4|obj Canada|NNP|4|nsubj bans=ban|VBZ|1|acl:relcl":
        "drug/N & (ban/V & SUBJ:canada/N).COMP",
    "my|PRP$|2|nmod:poss book|NN|0|root": "book/N & I/P.\"'s\"",
    "the|DT|2|det poor|JJ|3|nsubj suffer|VBP|0|root": "suffer/V & SUBJ:poor/N",
    "I|PRP|2|nsubj sell|VB|0|root drugs=drug|NNS|2|obj ,|,|5|punct books=book|NNS|3|conj and|CC|7|cc tea|NN|5|conj":
        "sell/V & SUBJ:I/P & COMP:{drug/N, book/N, tea/N}",
    "books=book|NNS|0|root and|CC|3|cc films=film|NNS|1|conj": "book/N & film/N",
    "He|PRP|2|nsubj lives=live|VBZ|0|root in|IN|4|case Rome|NNP|2|obl and|CC|7|cc near|IN|7|case Pisa|NNP|4|conj":
        "live/V & SUBJ:he/P & {rome/N.in, pisa/N.near}",
    "having=have|VBG|3|aux never|RB|3|advmod seen=see|VBN|0|root it|PRP|3|obj": "see/V & COMP:it/P",
    "the|DT|2|det man|NN|0|root having=have|VBG|4|aux sold=sell|VBN|2|acl it|PRP|4|obj":
        "man/N & (sell/V & COMP:it/P).SUBJ",
    "the|DT|2|det United=Unite|NNP|3|amod Nations=Nation|NNPS|0|root": "nation/N & unite/N",
    "a|DT|2|det man|NN|0|root that|WDT|5|dep ,|,|2|punct talks=talk|VBZ|2|acl:relcl about|IN|7|case whom|WP|5|obl":
        "man/N & about:talk/V",
    "I|PRP|2|nsubj play|VBP|0|root in|IN|2|obl and|CC|7|cc around|IN|3|conj the|DT|7|det house|NN|3|conj":
        "play/V & SUBJ:I/P & {house/N.in, house/N.in}",
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_the_paper(name: str) -> None:
    example, expected = FIGURES[name]
    assert sentence_trees(example_sentence(example)) == [parse(expected)]


def test_figure_4_four_trees_of_smoke_cause_flight_delay() -> None:
    tree = sentence_trees(example_sentence(DELAY))[0]
    smoke, delay = tree.find("smoke/N"), tree.find("delay/N")
    assert tree.subtree(smoke) == parse("smoke/N")
    assert tree.subtree(delay) == parse("delay/N & flight/N")
    assert tree.reroot(smoke) == parse("smoke/N & (cause/V & COMP:(delay/N & flight/N)).SUBJ")
    assert tree.reroot(delay) == parse("delay/N & flight/N & (cause/V & SUBJ:smoke/N).COMP")


@pytest.mark.parametrize("example", QUESTIONS)
def test_questions_and_blanks(example: str) -> None:
    assert sentence_trees(example_sentence(example)) == [parse(QUESTIONS[example])]


@pytest.mark.parametrize("example", CONSTRUCTIONS)
def test_constructions(example: str) -> None:
    trees = [to_tree(nodes) for nodes in convert(example_sentence(example))]
    assert trees == [parse(CONSTRUCTIONS[example])]


def test_conllu_keeps_its_words() -> None:
    trees = convert(example_sentence("Who|WP|2|nsubj sells=sell|VBZ|0|root drugs=drug|NNS|2|obj ?|.|2|punct"))
    assert [to_tree(nodes) for nodes in trees] == [parse("sell/V & COMP:drug/N")]


def test_a_name_is_not_a_verb() -> None:
    united = Token(1, "United", "Unite", "VERB", "NNP", "_", 2, "amod")
    tokens = [united, Token(2, "Nations", "Nation", "PROPN", "NNPS", "_", 0, "root")]
    assert to_tree(convert(Sentence(tokens))[0]) == parse("nation/N & united/N")


def test_one_node_trees_on_request() -> None:
    sentence = example_sentence("drugs=drug|NNS|0|root")
    assert convert(sentence) == [] and convert(sentence, single=True) == [[Node(1, "drug/N", -1, "", "", 0)]]


def test_vecud_has_one_relation_an_edge() -> None:
    nodes = convert_ud(example_sentence(DELAY))[0]
    assert [(n.word, nodes[n.parent].word, n.label, n.parent_label) for n in nodes if n.parent >= 0] == [
        ("smoke/N", "cause/V", "nsubj", ""),
        ("delay/N", "cause/V", "obj", ""),
        ("flight/N", "delay/N", "compound", ""),
    ]


TAGGED = [  # UPOS, FEATS, lemma of a word without Penn tag, and the part of speech of its node
    ("NOUN", "_", "drug", "N"),
    ("PROPN", "_", "Rome", "N"),
    ("NUM", "_", "two", "N"),
    ("SYM", "_", "$", "N"),
    ("PRON", "PronType=Prs", "he", "P"),
    ("PRON", "Poss=Yes|PronType=Prs", "his", "P"),
    ("DET", "Poss=Yes", "my", "P"),
    ("PRON", "_", "they", "P"),
    ("PRON", "PronType=Ind", "someone", "N"),
    ("PRON", "PronType=Dem", "this", ""),
    ("PRON", "PronType=Rel", "which", ""),
    ("PRON", "Poss=Yes|PronType=Int", "whose", ""),
    ("PRON", "_", "there", ""),
    ("DET", "PronType=Int", "which", ""),
    ("DET", "_", "all", "N"),
    ("ADJ", "_", "red", "J"),
    ("ADV", "_", "often", "R"),
    ("ADV", "PronType=Int", "where", ""),
    ("PART", "_", "not", ""),
    ("PART", "_", "to", ""),
    ("PART", "_", "'s", ""),
    ("VERB", "VerbForm=Ger", "sell", "V"),
    ("VERB", "Tense=Past|VerbForm=Part", "sell", "V"),
    ("VERB", "Tense=Pres|VerbForm=Part", "sell", "V"),
    ("VERB", "Tense=Past|VerbForm=Fin", "sell", "V"),
    ("VERB", "Tense=Pres|VerbForm=Fin", "sell", "V"),
    ("VERB", "VerbForm=Inf", "sell", "V"),
    ("AUX", "_", "must", ""),
    ("Q", "_", "odd", ""),
]  # fmt: skip


@pytest.mark.parametrize(("upos", "feats", "lemma", "pos"), TAGGED)
def test_without_penn_tags(upos: str, feats: str, lemma: str, pos: str) -> None:
    trees = convert(Sentence([Token(1, lemma, lemma, upos, "_", feats, 0, "root")]), single=True)
    assert [node.word.rpartition("/")[2] for nodes in trees for node in nodes] == ([pos] if pos else [])


def test_odd_treebank_tag_for_adjectives() -> None:
    assert convert(Sentence([Token(1, "red", "red", "ADJ", "POS", "_", 0, "root")]), single=True)[0][0].word == "red/J"


def authors_edges(sentence: Sentence) -> set[tuple[int, int, str, str]]:
    """The edges of `# dcs = child>parent:label|parent_label …`."""
    found = set()
    for edge in (sentence.meta("dcs") or "").split():
        ends, _, labels = edge.replace("_", " ").partition(":")
        child, parent = map(int, ends.split(">"))
        found.add((child, parent, *labels.split("|")))
    return found


def our_edges(sentence: Sentence) -> set[tuple[int, int, str, str]]:
    trees = convert(sentence)
    return {(n.token, t[n.parent].token, n.label, n.parent_label) for t in trees for n in t if n.parent >= 0}


def test_agreement_with_the_authors_trees(shared: Path) -> None:
    right = ours = theirs = 0
    for sentence in read_conllu(shared / "data" / "conformance" / "authors-trees.conllu"):
        found, expected = our_edges(sentence), authors_edges(sentence)
        right, ours, theirs = right + len(found & expected), ours + len(found), theirs + len(expected)
    assert 2 * right / (ours + theirs) >= 0.999


def test_every_treebank_sentence_converts(shared: Path) -> None:
    for path in sorted((shared / "data" / "treebanks").glob("*.conllu.xz")):
        tokens = edges = 0
        for sentence in read_conllu(path):
            trees = convert(sentence)
            for nodes in (*trees, *convert(sentence, blanks=True, single=True), *convert_ud(sentence)):
                check_well_formed(nodes)
            tokens += len(sentence.tokens)
            edges += sum(len(nodes) - 1 for nodes in trees)
        assert edges >= 0.38 * tokens, path.name


def check_well_formed(nodes: list[Node]) -> None:
    """One root, first; parents before children; both labels on each edge; a group has one slot and several members."""
    assert nodes[0].parent == -1 and all(0 <= node.parent < at for at, node in enumerate(nodes[1:], 1))
    assert len({node.token for node in nodes}) == len(nodes)
    assert all(node.label and node.word for node in nodes[1:])
    for group in {node.group for node in nodes} - {0}:
        members = [node for node in nodes if node.group == group]
        assert len(members) > 1 and len({(node.parent, node.parent_label) for node in members}) == 1


RELATIONS = (
    "nsubj nsubj:pass obj obl nmod acl acl:relcl advcl conj case mark xcomp ccomp aux:pass cop amod fixed compound:prt"
    " advmod obl:unmarked csubj dep det nonsense"
).split()
TAGS = ["NN", "NNP", "PRP", "VB", "VBN", "VBG", "JJ", "RB", "IN", "TO", "WP", "WP$", "WDT", "WRB", "CD", "DT", "_"]


@pytest.mark.parametrize("seed", range(300))
def test_random_sentences_convert(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randrange(1, 14)
    order = chance.sample(range(1, count + 1), count)
    heads = {token: order[chance.randrange(at)] if at else 0 for at, token in enumerate(order)}
    words = ["when", "that", "what", "who", "by", "to", "whose", "sell", "day", "_", "how", "be"]
    tokens = [
        Token(i, word := chance.choice(words), word, "X", chance.choice(TAGS), "_", heads[i], chance.choice(RELATIONS))
        for i in range(1, count + 1)
    ]
    for blanks in (False, True):
        for nodes in convert(Sentence(tokens), blanks, single=True):
            check_well_formed(nodes)
        for tree in sentence_trees(Sentence(tokens), blanks):
            assert parse(str(tree)) == tree
