"""The rules of UD to DCS as a table: relation, condition, the two labels, an example with its edge, and why."""

from __future__ import annotations

from typing import NamedTuple

from vecdcs.dcs.conditions import CONDITIONS, LABELS, Condition, LabelOf
from vecdcs.text.conllu import Sentence, Token

SLOT = "⟨slot⟩"
AS_ACL = "⟨as acl⟩"


class Rule(NamedTuple):
    """One row: the first row of a relation whose condition holds gives the edge between child x and parent p.

    `label` stands at the child's end, `parent_label` at the parent's; a label in ⟨…⟩ is read off the words (LABELS),
    ⟨slot⟩ hangs the child into its parent's own slot, ⟨as acl⟩ goes on with the rows of acl. Empty: no edge.
    `example` is a sentence written as `form[=lemma]|TAG|head|relation` words, `edge` what becomes of it:
    `child>parent:label|parent_label`, or `child>parent` for no edge.
    """

    relation: str
    condition: str
    label: str
    parent_label: str
    example: str
    edge: str
    why: str
    passive: bool = False  # x counts as passive from here on


RULES: tuple[Rule, ...] = (
    # Subjects
    Rule("nsubj", "", "ARG", "⟨subject⟩",
         "Kids=kid|NNS|2|nsubj play|VBP|0|root",
         "1>2:ARG|SUBJ", "who does it is the SUBJ of the event"),
    Rule("nsubj", "", "ARG", "⟨subject⟩",
         "The|DT|2|det audit|NN|5|nsubj was=be|VBD|5|cop about|IN|5|case waste|NN|0|root",
         "2>5:ARG|about", "with a copula and a preposition, the preposition is the relation"),
    Rule("nsubj", "", "ARG", "⟨subject⟩",
         "Aspirin|NNP|4|nsubj is=be|VBZ|4|cop a|DT|4|det drug|NN|0|root",
         "1>4:ARG|ARG", "a copula with a noun says that both are the same thing"),
    Rule("nsubj", "", "ARG", "⟨subject⟩",
         "The|DT|2|det drug|NN|4|nsubj is=be|VBZ|4|cop illegal|JJ|0|root",
         "2>4:ARG|SUBJ", "an adjective is a state whose SUBJ is what has it"),
    Rule("nsubj:pass", "", "ARG", "COMP",
         "Drugs=drug|NNS|3|nsubj:pass were=be|VBD|3|aux:pass banned=ban|VBN|0|root",
         "1>3:ARG|COMP", "the subject of a passive is what it is done to"),
    Rule("nsubj:outer", "", "ARG", "ARG",
         "The|DT|2|det problem|NN|6|nsubj:outer is=be|VBZ|6|cop that|IN|6|mark we|PRP|6|nsubj lost=lose|VBD|0|root",
         "2>6:ARG|ARG", "the outer subject names the whole clause, it does not take part in its event"),
    Rule("csubj", "asks what", "⟨gap⟩", "⟨subject⟩",
         "What=what|WP|3|obj he|PRP|3|nsubj said=say|VBD|4|csubj shocked=shock|VBD|0|root us=we|PRP|4|obj",
         "3>4:COMP|SUBJ", "a free relative stands for what fills its gap"),
    Rule("csubj", "", "ARG", "⟨subject⟩",
         "Winning=win|VBG|2|csubj matters=matter|VBZ|0|root",
         "1>2:ARG|SUBJ", "a clause as subject is its event"),
    Rule("csubj:pass", "asks what", "⟨gap⟩", "COMP",
         "What=what|WP|2|nsubj happened=happen|VBD|4|csubj:pass is=be|VBZ|4|aux:pass known=know|VBN|0|root",
         "2>4:SUBJ|COMP", "a free relative stands for what fills its gap"),
    Rule("csubj:pass", "", "ARG", "COMP",
         "That=that|IN|3|mark he|PRP|3|nsubj lied=lie|VBD|5|csubj:pass was=be|VBD|5|aux:pass known=know|VBN|0|root",
         "3>5:ARG|COMP", "a clause as passive subject is its event"),
    # Objects and complements
    Rule("obj", "", "ARG", "COMP",
         "Kids=kid|NNS|2|nsubj play|VBP|0|root ball|NN|2|obj",
         "3>2:ARG|COMP", "what it is done to is the COMP of the event"),
    Rule("obj", "", "ARG", "COMP",
         "She=she|PRP|2|nsubj asked=ask|VBD|0|root John|NNP|2|iobj to|TO|5|mark leave|VB|2|xcomp",
         "3>2:ARG|COMP", "the iobj of a verb with an open clause and no object is its object: it controls the clause"),
    Rule("iobj", "", "iobj", "ARG",
         "She=she|PRP|2|nsubj gave=give|VBD|0|root John|NNP|2|iobj books=book|NNS|2|obj",
         "3>2:iobj|ARG", "a receiver is a field of its own, like a preposition without a form"),
    Rule("ccomp", "asks", "⟨gap⟩", "COMP",
         "I|PRP|2|nsubj know|VBP|0|root what|WP|5|obj he|PRP|5|nsubj sold=sell|VBD|2|ccomp",
         "5>2:COMP|COMP", "an embedded question stands for what fills its gap"),
    Rule("ccomp", "", "ARG", "COMP",
         "I|PRP|2|nsubj know|VBP|0|root he|PRP|4|nsubj lied=lie|VBD|2|ccomp",
         "4>2:ARG|COMP", "the event of the clause is the COMP"),
    Rule("xcomp", "own subject", "ARG", "COMP",
         "I|PRP|2|nsubj saw=see|VBD|0|root him=he|PRP|4|nsubj leave|VB|2|xcomp",
         "4>2:ARG|COMP", "with a subject of its own it is a plain complement"),
    Rule("xcomp", "p has object", "⟨controlled⟩", "COMP",
         "She=she|PRP|2|nsubj asked=ask|VBD|0|root John|NNP|2|obj to|TO|5|mark leave|VB|2|xcomp",
         "5>2:SUBJ|COMP", "object control: the object is also the SUBJ of the second verb"),
    Rule("xcomp", "", "⟨controlled⟩", "SUBJ",
         "John|NNP|2|nsubj wants=want|VBZ|0|root to|TO|4|mark sell|VB|2|xcomp books=book|NNS|4|obj",
         "4>2:SUBJ|SUBJ", "subject control: both verbs have the same SUBJ"),
    # Modifiers of nouns
    Rule("amod", "nominal", "ARG", "ARG",
         "the|DT|4|det top|NN|4|amod five|CD|4|nummod books=book|NNS|0|root",
         "2>4:ARG|ARG", "a modifier that is itself a noun or adverb names the same thing"),
    Rule("amod", "participle", "COMP", "ARG",
         "banned=ban|VBN|2|amod drugs=drug|NNS|0|root",
         "1>2:COMP|ARG", "a past participle: the noun is what it is done to"),
    Rule("amod", "", "SUBJ", "ARG",
         "illegal|JJ|2|amod drugs=drug|NNS|0|root",
         "1>2:SUBJ|ARG", "an adjective or -ing participle: the noun is its SUBJ"),
    Rule("appos", "", "ARG", "ARG",
         "the|DT|2|det drug|NN|0|root Aspirin|NNP|2|appos",
         "3>2:ARG|ARG", "apposition names the same thing twice"),
    Rule("compound", "", "ARG", "ARG",
         "flight|NN|2|compound delay|NN|0|root",
         "1>2:ARG|ARG", "the relation between the parts of a compound is left open"),
    Rule("flat", "", "ARG", "ARG",
         "John|NNP|0|root Smith|NNP|1|flat",
         "2>1:ARG|ARG", "the parts of a name all name the same thing (v1 parsers gave them as compounds)"),
    Rule("nummod", "", "ARG", "ARG",
         "two|CD|2|nummod drugs=drug|NNS|0|root",
         "1>2:ARG|ARG", "a number is a property of the set, nothing is done in it"),
    Rule("nmod:poss", "", "'s", "ARG",
         "John|NNP|3|nmod:poss 's|POS|1|case book|NN|0|root",
         "1>3:'s|ARG", "possession is a field, whatever its form (John's, his)"),
    Rule("det", "asked", "ARG", "ARG",
         "Which|WDT|2|det drugs=drug|NNS|5|obj did=do|VBD|5|aux Canada|NNP|5|nsubj ban|VB|0|root ?|.|5|punct",
         "1>2:ARG|ARG", "a question's determiner asks which of the noun's things it is"),
    # Adverbs and prepositional phrases
    Rule("advmod", "asked", "⟨asked⟩", "ARG",
         "Where=where|WRB|4|advmod do|VBP|4|aux students=student|NNS|4|nsubj live|VB|0|root ?|.|4|punct",
         "1>4:where|ARG", "the wh-adverb of a question is a field at the end of what is asked for"),
    Rule("advmod", "", "ARG", "ARG",
         "Kids=kid|NNS|3|nsubj often|RB|3|advmod play|VBP|0|root",
         "2>3:ARG|ARG", "an adverb holds of the event itself"),
    Rule("obl:agent", "", "ARG", "SUBJ",
         "drugs=drug|NNS|0|root banned=ban|VBN|1|acl by|IN|4|case Canada|NNP|2|obl:agent",
         "4>2:ARG|SUBJ", "the agent of a passive is its SUBJ"),
    Rule("obl:tmod", "agent", "ARG", "SUBJ",
         "He|PRP|3|nsubj:pass was=be|VBD|3|aux:pass troubled=trouble|VBN|0|root by|IN|5|case yesterday|NN|3|obl:tmod",
         "5>3:ARG|SUBJ", "a by-phrase of a passive is its agent even when it names a time"),
    Rule("obl:tmod", "", "when", "ARG",
         "He|PRP|2|nsubj left=leave|VBD|0|root yesterday|NN|2|obl:tmod",
         "3>2:when|ARG", "a bare time phrase says when"),
    Rule("obl:npmod", "agent", "ARG", "SUBJ",
         "He|PRP|3|nsubj:pass was=be|VBD|3|aux:pass seen=see|VBN|0|root by|IN|5|case all|DT|3|obl:npmod",
         "5>3:ARG|SUBJ", "a by-phrase of a passive is its agent"),
    Rule("obl:npmod", "cased", "⟨case⟩", "ARG",
         "Prices=price|NNS|2|nsubj rose=rise|VBD|0|root by|IN|4|case dollars=dollar|NNS|2|obl:npmod",
         "4>2:by|ARG", "with a preposition it is an ordinary prepositional phrase"),
    Rule("obl:npmod", "time", "when", "ARG",
         "He|PRP|2|nsubj came=come|VBD|0|root Monday|NNP|2|obl:npmod",
         "3>2:when|ARG", "newer treebanks do not mark time phrases, so the word decides"),
    Rule("obl:npmod", "", "ARG", "ARG",
         "ten|CD|2|nummod miles=mile|NNS|3|obl:npmod west|RB|0|root",
         "2>3:ARG|ARG", "a measure holds of the state itself"),
    Rule("obl", "agent", "ARG", "SUBJ",
         "Drugs=drug|NNS|3|nsubj:pass were=be|VBD|3|aux:pass banned=ban|VBN|0|root by|IN|5|case Canada|NNP|3|obl",
         "5>3:ARG|SUBJ", "the by-phrase of a passive is its SUBJ"),
    Rule("obl", "cased", "⟨case⟩", "ARG",
         "Kids=kid|NNS|2|nsubj play|VBP|0|root on|IN|5|case the|DT|5|det grass|NN|2|obl",
         "5>2:on|ARG", "a preposition is a field of the thing it introduces, like SUBJ and COMP of events"),
    Rule("obl", "", "", "",
         "He|PRP|2|nsubj works=work|VBZ|0|root nights=night|NNS|2|obl",
         "3>2", "without a preposition nothing says which relation it is"),
    Rule("nmod", "agent", "ARG", "SUBJ",
         "Drugs=drug|NNS|3|nsubj:pass were=be|VBD|3|aux:pass banned=ban|VBN|0|root by|IN|5|case Canada|NNP|3|nmod",
         "5>3:ARG|SUBJ", "UD v1 has nmod where v2 has obl"),
    Rule("nmod", "cased", "⟨case⟩", "ARG",
         "report|NN|0|root about|IN|3|case climate|NN|1|nmod",
         "3>1:about|ARG", "a preposition is a field of the thing it introduces"),
    Rule("nmod", "", "", "",
         "page|NN|0|root x|NN|1|nmod",
         "2>1", "without a preposition nothing says which relation it is"),
    Rule("dep", "two nouns", "ARG", "ARG",
         "room|NN|0|root twelve|CD|1|dep",
         "2>1:ARG|ARG", "an unclear link between two nouns is most often one thing named twice"),
    Rule("dep", "verb and participle", "COMP", "SUBJ",
         "He|PRP|2|nsubj works=work|VBZ|0|root unseen|VBN|2|dep",
         "3>2:COMP|SUBJ", "the subject is also what the participle is done to"),
    Rule("dep", "", "", "",
         "He|PRP|2|nsubj left=leave|VBD|0|root so|RB|2|dep",
         "3>2", "nothing is known about it"),
    # Clauses that modify
    Rule("acl", "to, stranded", "ARG", "⟨stranded⟩",
         "a|DT|2|det house|NN|0|root to|TO|4|mark live|VB|2|acl in|IN|4|obl",
         "4>2:ARG|in", "the noun is what the stranded preposition introduces"),
    Rule("acl", "to, object", "SUBJ", "ARG",
         "a|DT|2|det man|NN|0|root to|TO|4|mark sell|VB|2|acl books=book|NNS|4|obj",
         "4>2:SUBJ|ARG", "the object slot is taken, so the noun is the SUBJ"),
    Rule("acl", "to", "COMP", "ARG",
         "a|DT|2|det book|NN|0|root to|TO|4|mark read|VB|2|acl",
         "4>2:COMP|ARG", "the object slot is free, so the noun fills it"),
    Rule("acl", "active participle", "SUBJ", "ARG",
         "a|DT|2|det man|NN|0|root selling=sell|VBG|2|acl books=book|NNS|3|obj",
         "3>2:SUBJ|ARG", "an -ing clause: the noun does it"),
    Rule("acl", "stranded", "ARG", "⟨stranded⟩",
         "the|DT|2|det man|NN|0|root I|PRP|4|nsubj talked=talk|VBD|2|acl:relcl to|IN|4|obl",
         "4>2:ARG|to", "the preposition left behind by a bare relative clause says how the noun takes part"),
    Rule("acl", "object gap", "COMP", "ARG",
         "the|DT|2|det drug|NN|0|root Canada|NNP|4|nsubj banned=ban|VBD|2|acl:relcl",
         "4>2:COMP|ARG", "the object slot is free, so the noun fills it"),
    Rule("acl", "reduced", "COMP", "ARG",
         "drugs=drug|NNS|0|root banned=ban|VBN|1|acl by|IN|4|case Canada|NNP|2|obl",
         "2>1:COMP|ARG", "a passive participle: a by-phrase under it is then its SUBJ", passive=True),
    Rule("acl", "copular", "⟨subject of x⟩", "ARG",
         "the|DT|2|det year|NN|0|root he|PRP|5|nsubj was=be|VBD|5|cop poor|JJ|2|acl:relcl",
         "5>2:SUBJ|ARG", "without a verb the noun takes the subject slot of the state"),
    Rule("acl", "wh subject", "⟨subject of x⟩", "⟨owner⟩",
         "a|DT|2|det man|NN|0|root who|WP|4|nsubj sells=sell|VBZ|2|acl:relcl books=book|NNS|4|obj",
         "4>2:SUBJ|ARG", "the noun fills the slot of its wh-word"),
    Rule("acl", "wh subject", "⟨subject of x⟩", "⟨owner⟩",
         "a|DT|2|det man|NN|0|root whose|WP$|4|nmod:poss son|NN|5|nsubj left=leave|VBD|2|acl:relcl",
         "5>2:SUBJ|'s", "*whose*: the noun possesses what fills the slot"),
    Rule("acl", "wh object", "COMP", "⟨owner⟩",
         "a|DT|2|det drug|NN|0|root that|WDT|5|obj Canada|NNP|5|nsubj banned=ban|VBD|2|acl:relcl",
         "5>2:COMP|ARG", "the noun fills the slot of its wh-word"),
    Rule("acl", "wh adverb", "ARG", "⟨wh⟩",
         "the|DT|2|det house|NN|0|root where|WRB|5|advmod he|PRP|5|nsubj lives=live|VBZ|2|acl:relcl",
         "5>2:ARG|where", "the wh-adverb is the field at the end of the place or time it stands for"),
    Rule("acl", "wh preposition", "ARG", "⟨wh case⟩",
         "the|DT|2|det house|NN|0|root in|IN|4|case which|WDT|6|obl he|PRP|6|nsubj lives=live|VBZ|2|acl:relcl",
         "6>2:ARG|in", "the noun is what the preposition introduces"),
    Rule("acl", "", "", "",
         "the|DT|2|det fact|NN|0|root that|IN|5|mark he|PRP|5|nsubj sold=sell|VBD|2|acl it|PRP|5|obj",
         "5>2", "no slot of the clause is free: the noun only names it"),
    Rule("advcl", "copular noun", AS_ACL, AS_ACL,
         "He|PRP|4|nsubj is=be|VBZ|4|cop the|DT|4|det man|NN|0|root selling=sell|VBG|4|advcl books=book|NNS|5|obj",
         "5>4:SUBJ|ARG", "a clause after a copular noun modifies that noun"),
    Rule("advcl", "agent clause", "ARG", "SUBJ",
         "It|PRP|3|nsubj:pass is=be|VBZ|3|aux:pass made=make|VBN|0|root by|IN|5|mark mixing=mix|VBG|3|advcl",
         "5>3:ARG|SUBJ", "what a passive is done by is its SUBJ, event or thing"),
    Rule("advcl", "marked", "⟨mark⟩", "ARG",
         "He|PRP|2|nsubj left=leave|VBD|0|root because|IN|5|mark she|PRP|5|nsubj came=come|VBD|2|advcl",
         "5>2:because|ARG", "a subordinating word is a field like a preposition"),
    Rule("advcl", "after", "ARG", "ARG",
         "He|PRP|2|nsubj left=leave|VBD|0|root smiling=smile|VBG|2|advcl",
         "3>2:ARG|ARG", "a bare clause after its verb tells more of the same event"),
    Rule("advcl", "wh adverb", "⟨wh⟩", "ARG",
         "He|PRP|2|nsubj left=leave|VBD|0|root when|WRB|5|advmod she|PRP|5|nsubj came=come|VBD|2|advcl",
         "5>2:when|ARG", "the wh-adverb is the field of the clause it introduces"),
    Rule("advcl", "", "", "",
         "Smiling=smile|VBG|4|advcl ,|,|1|punct he|PRP|4|nsubj left=leave|VBD|0|root",
         "1>4", "a bare clause before its verb may have any relation to it"),
    # Coordination
    Rule("conj", "clauses, own subject", SLOT, SLOT,
         "He|PRP|2|nsubj came=come|VBD|0|root and|CC|5|cc she|PRP|5|nsubj left=leave|VBD|2|conj",
         "5>2:ARG|ARG", "two whole clauses stand in the same slot; as roots they only belong together"),
    Rule("conj", "passive goes on", "COMP", "COMP",
         "He|PRP|3|nsubj:pass was=be|VBD|3|aux:pass caught=catch|VBN|0|root and|CC|5|cc jailed=jail|VBN|3|conj",
         "5>3:COMP|COMP", "the auxiliary is not said again: both are done to the shared subject", passive=True),
    Rule("conj", "clauses", "⟨role⟩", "⟨role of p⟩",
         "He|PRP|2|nsubj came=come|VBD|0|root and|CC|4|cc left=leave|VBD|2|conj",
         "4>2:SUBJ|SUBJ", "both predicates share the subject"),
    Rule("conj", "clauses", "⟨role⟩", "⟨role of p⟩",
         "It|PRP|2|nsubj grew=grow|VBD|0|root and|CC|5|cc was=be|VBD|5|aux:pass banned=ban|VBN|2|conj",
         "5>2:COMP|SUBJ", "the shared subject is the COMP of a passive"),
    Rule("conj", "alike", SLOT, SLOT,
         "He|PRP|2|nsubj sells=sell|VBZ|0|root drugs=drug|NNS|2|obj and|CC|5|cc books=book|NNS|3|conj",
         "5>2:ARG|COMP", "conjuncts fill the same slot, each on its own: no path leads from one to the other"),
    Rule("conj", "", "", "",
         "poor|JJ|0|root and|CC|4|cc in|IN|4|case debt|NN|1|conj",
         "4>1", "different kinds of words fill no common slot"),
    # No edge
    *(Rule(relation, "", "", "", example, edge, why) for relation, example, edge, why in (
        ("aux", "He|PRP|3|nsubj will|MD|3|aux leave|VB|0|root", "2>3",
         "auxiliaries change time and mood, not who does what"),
        ("aux:pass", "It|PRP|3|nsubj:pass was=be|VBD|3|aux:pass sold=sell|VBN|0|root", "2>3",
         "it makes the verb passive"),
        ("cop", "It|PRP|3|nsubj is=be|VBZ|3|cop good|JJ|0|root", "2>3", "it makes the word a predicate"),
        ("det", "all|DT|2|det drugs=drug|NNS|0|root", "1>2", "quantifiers are beyond this version of DCS"),
        ("case", "at|IN|2|case home|NN|0|root", "1>2", "it becomes the field of its word"),
        ("mark", "to|TO|2|mark leave|VB|0|root", "1>2", "it becomes the field of its clause"),
        ("fixed", "because|IN|3|case of|IN|1|fixed rain|NN|0|root", "2>1", "it is a part of the word before it"),
        ("compound:prt", "It|PRP|2|nsubj burned=burn|VBD|0|root down|RP|2|compound:prt", "3>2",
         "it is a part of the verb: *burn down*"),
        ("cc", "books=book|NNS|0|root and|CC|3|cc films=film|NNS|1|conj", "2>3", "coordination is expressed by groups"),
        ("goeswith", "with|IN|0|root out|RB|1|goeswith", "2>1", "the broken-off half of a word"),
        ("expl", "It|PRP|2|expl rains=rain|VBZ|0|root", "1>2", "it refers to nothing"),
        ("vocative", "John|NNP|2|vocative come|VB|0|root", "1>2", "the person spoken to takes no part in the event"),
        ("discourse", "well|RB|2|discourse come|VB|0|root", "1>2", "it takes no part in the event"),
        ("dislocated", "John|NNP|3|dislocated he|PRP|3|nsubj left=leave|VBD|0|root", "1>3",
         "its pronoun already fills the slot"),
        ("parataxis", "He|PRP|2|nsubj left=leave|VBD|0|root we|PRP|4|nsubj stayed=stay|VBD|2|parataxis", "4>2",
         "two sentences side by side"),
        ("list", "John|NNP|0|root London|NNP|1|list", "2>1", "nothing says how the entries are related"),
        ("orphan", "John|NNP|0|root tea|NN|1|orphan", "2>1",
         "what is left of a clause whose verb is not said: the two do not modify each other"),
        ("reparandum", "Monday|NNP|2|reparandum Tuesday|NNP|0|root", "1>2", "the speaker took it back"),
        ("punct", "books=book|NNS|0|root .|.|1|punct", "2>1", "it has no node"),
        ("root", "Go=go|VB|0|root", "1>0", "the top of the tree"),
    )),
)  # fmt: skip

Compiled = tuple[Condition, str | LabelOf, str | LabelOf, Rule]


def _label(label: str) -> str | LabelOf:
    return LABELS[label][1] if label in LABELS else label


def compile_rules(rules: tuple[Rule, ...]) -> dict[str, tuple[Compiled, ...]]:
    """The table as functions: relation to rows in order."""
    rows: dict[str, list[Compiled]] = {}
    for rule in rules:
        row = (CONDITIONS[rule.condition][1], _label(rule.label), _label(rule.parent_label), rule)
        rows.setdefault(rule.relation, []).append(row)
    return {relation: tuple(compiled) for relation, compiled in rows.items()}


def example_sentence(example: str) -> Sentence:
    """A sentence from the short form of the table: `form[=lemma]|TAG|head|relation` words."""
    tokens = []
    for number, word in enumerate(example.split(), 1):
        written, tag, head, relation = word.rsplit("|", 3)
        form, _, lemma = written.partition("=")
        tokens.append(Token(number, form, lemma or form, "_", tag, "_", int(head), relation))
    return Sentence(tokens)
