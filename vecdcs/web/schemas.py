"""What goes in and out of the JSON interface; the limits on input stand here."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

LONGEST_TEXT, MOST_ANSWERS, MOST_CANDIDATES = 1000, 100, 50
MOST_NODES, MOST_BLANKS = 24, 4

Text = Annotated[str, Field(max_length=LONGEST_TEXT, examples=["drugs banned by Canada"])]
Word = Annotated[str, Field(max_length=100, examples=["ban/V"])]
Count = Annotated[int, Field(ge=1, le=MOST_ANSWERS, description="How many answers.")]
Position = Annotated[int, Field(ge=0, lt=MOST_NODES, description="A node of the tree, in preorder; the root is 0.")]
Parts = Annotated[
    str,
    Field(
        pattern="^[NVJRP]*$",
        max_length=5,
        description="Parts of speech to keep, such as NV; by default all but pronouns.",
    ),
]


class Ranking(StrEnum):
    """What answers are ranked by."""

    balanced = "balanced"
    probability = "probability"
    score = "score"


class In(BaseModel):
    """A request: nothing but what is asked for."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AskIn(In):
    """A phrase, a question, a statement with `_`, or a tree in notation."""

    text: Text
    k: Count = 10
    pos: Parts = ""
    by: Annotated[Ranking, Field(strict=False)] = Ranking.probability
    own_words: bool = Field(False, description="Keep the question's own words among the answers.")
    blank: int = Field(0, ge=0, lt=MOST_NODES, description="Which of several blanks is asked for, from 0.")
    stepwise: bool | None = Field(
        None,
        description="First answer what inner nouns name, then ask on with these, or not; null: as suits the model.",
    )


class ExplainIn(In):
    """A question and words to explain as its answers."""

    text: Text
    words: list[Word] = Field(min_length=1, max_length=20)
    blank: int = Field(0, ge=0, lt=MOST_NODES)
    stepwise: bool | None = None


class SimilarIn(In):
    """Two phrases."""

    one: Text
    other: Text


class NearestIn(In):
    """A word, phrase or tree."""

    text: Text
    k: Count = 10
    pos: Parts = ""


class CompleteIn(In):
    """A sentence with `_`, and what might fill it."""

    text: Text
    candidates: list[Word] = Field(min_length=1, max_length=MOST_CANDIDATES)


class Action(StrEnum):
    """What to do to a node."""

    word = "word"
    fields = "fields"
    drop = "drop"
    root = "root"
    blank = "blank"


class EditIn(In):
    """A change to one node of a tree in notation."""

    tree: Text
    action: Annotated[Action, Field(strict=False)]
    position: Position
    word: Word = ""
    parent_label: Word = ""
    label: Word = ""


class Node(BaseModel):
    """A node of a tree: where it hangs, and the fields at the parent's and at its own end of the edge."""

    position: int
    word: str
    parent: int
    parent_label: str
    label: str
    group: int
    negated: bool
    unknown: bool


class Quote(BaseModel):
    """A sentence of the corpus, and the tree that it states."""

    text: str
    source: str
    line: int
    states: str


class Answer(BaseModel):
    """A word that answers; `exact` ones were found in the corpus, `inferred` ones by vectors alone."""

    word: str
    score: float | None
    probability: float
    kind: str
    count: int
    evidence: list[Quote]


class AskOut(BaseModel):
    """A question as it was understood, and its answers."""

    query: str
    tree: str
    asked: int
    blanks: list[int]
    nodes: list[Node]
    unknown: list[str]
    unused: list[str]
    answers: list[Answer]


class Part(BaseModel):
    """A node of the question that adds to scores."""

    position: int
    word: str
    parent_label: str
    label: str
    text: str


class Explained(BaseModel):
    """A word's score as the sum of contributions."""

    word: str
    score: float
    contributions: list[float]


class ExplainOut(BaseModel):
    """What each part of the question adds to the score of each word."""

    tree: str
    parts: list[Part]
    answers: list[Explained]


class SimilarOut(BaseModel):
    """The cosine of two query vectors."""

    similarity: float


class Near(BaseModel):
    """A word and its cosine."""

    word: str
    score: float


class NearestOut(BaseModel):
    """Words by their nearness."""

    nearest: list[Near]


class Choice(BaseModel):
    """A candidate, the word it was parsed as, and its score."""

    candidate: str
    word: str | None
    score: float


class CompleteOut(BaseModel):
    """Candidates, best first."""

    choices: list[Choice]


class TreeOut(BaseModel):
    """A tree in notation."""

    tree: str


class Examples(BaseModel):
    """Words or fields."""

    names: list[str]


class ModelOut(BaseModel):
    """The model and the corpus that are asked."""

    words: int
    fields: list[str]
    dim: int
    sentences: int | None
    examples: list[str]


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str
