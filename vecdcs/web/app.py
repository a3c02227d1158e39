"""The JSON interface of a model, and the files of the page."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.trustedhost import TrustedHostMiddleware

from vecdcs import __version__
from vecdcs.corpus.vocabulary import UNKNOWN
from vecdcs.dcs.notation import parse
from vecdcs.dcs.tree import Tree
from vecdcs.errors import InputError, VecdcsError
from vecdcs.model.ask import Asker, Question
from vecdcs.model.explain import explain
from vecdcs.model.support import Corpus
from vecdcs.web import edit, schemas
from vecdcs.web.limits import Limited

STATIC = Path(__file__).parent / "static"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": schemas.Problem, "description": "The question cannot be asked; `detail` says why."},
    413: {"model": schemas.Problem, "description": "The request is too large."},
}
COMPLETIONS = 20
SECONDS = 10  # for a search of the corpus
EXAMPLES = ("banned drugs", "Who sells drugs?", "What did Canada ban?", "_ & (write/V & COMP:book/N).SUBJ")


def make_app(asker: Asker, corpus: str | Path | Corpus | None = None, hosts: list[str] | None = None) -> FastAPI:
    """The application; `hosts` are the names it may be called by."""
    opened = Corpus(corpus, SECONDS, serving=True) if isinstance(corpus, str | Path) else corpus
    app = FastAPI(title="vecdcs", version=__version__, description=__doc__, docs_url=None, redoc_url=None)
    app.add_exception_handler(VecdcsError, _refuse)
    app.add_exception_handler(Exception, _fail)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts or ["*"])
    app.add_middleware(Limited)
    _add_questions(app, asker, opened)
    _add_words(app, asker, opened)
    _add_pages(app)
    return app


def _add_questions(app: FastAPI, asker: Asker, corpus: Corpus | None) -> None:
    @app.post("/api/ask", responses=PROBLEMS, summary="Ask a question")
    def ask(request: schemas.AskIn) -> schemas.AskOut:
        question = _checked(asker.ask(request.text, corpus, request.blank, request.stepwise))
        answers = question.answers(request.k, list(request.pos), request.by, request.own_words)
        found = question.as_dict(answers)
        return schemas.AskOut(**found, blanks=question.tree.blanks(), nodes=_nodes(question))

    @app.post("/api/explain", responses=PROBLEMS, summary="Say what each part of a question adds to scores")
    def explain_answers(request: schemas.ExplainIn) -> schemas.ExplainOut:
        question = _checked(asker.ask(request.text, None, request.blank, request.stepwise))
        found = explain(question, request.words).as_dict()
        origin = edit.origins(question.tree, question.position)
        parts = [{**part, "position": origin[part["position"]]} for part in found["parts"]]
        return schemas.ExplainOut.model_validate({**found, "parts": parts})

    @app.post("/api/edit", responses=PROBLEMS, summary="Change one node of a tree")
    def edit_tree(request: schemas.EditIn) -> schemas.TreeOut:
        tree = _small(parse(request.tree))
        return schemas.TreeOut(tree=str(_edited(tree, request)))


def _add_words(app: FastAPI, asker: Asker, corpus: Corpus | None) -> None:
    names = sorted(word for word in asker.vocabulary.words if not word.startswith(UNKNOWN))

    @app.post("/api/similar", responses=PROBLEMS, summary="Compare two phrases")
    def similar(request: schemas.SimilarIn) -> schemas.SimilarOut:
        vectors = asker.vectors([_checked(each) for each in asker.ask_many([request.one, request.other])])
        return schemas.SimilarOut(similarity=float(vectors[0] @ vectors[1]))

    @app.post("/api/nearest", responses=PROBLEMS, summary="Find words with similar query vectors")
    def nearest(request: schemas.NearestIn) -> schemas.NearestOut:
        question = _checked(asker.ask(request.text))
        found = asker.nearest(question.tree, request.k, list(request.pos))
        return schemas.NearestOut(nearest=[schemas.Near(**each._asdict()) for each in found])

    @app.post("/api/complete", responses=PROBLEMS, summary="Rank candidates for a blank")
    def complete(request: schemas.CompleteIn) -> schemas.CompleteOut:
        _checked(asker.ask(request.text))
        found = asker.complete(request.text, request.candidates)
        return schemas.CompleteOut(choices=[schemas.Choice(**each._asdict()) for each in found])

    @app.get("/api/words", summary="List words that begin with some letters")
    def words(prefix: Annotated[str, Query(max_length=100)] = "") -> schemas.Examples:
        at = bisect_left(names, prefix)
        return schemas.Examples(names=[name for name in names[at : at + COMPLETIONS] if name.startswith(prefix)])

    @app.get("/api/model", summary="Tell what is asked")
    def model() -> schemas.ModelOut:
        fields = [field for field in asker.vocabulary.fields if field != UNKNOWN]
        sentences = corpus.forest.totals["sentences"] if corpus else None
        known = len(names)
        return schemas.ModelOut(
            words=known, fields=fields[:500], dim=asker.dim, sentences=sentences, examples=list(EXAMPLES)
        )


def _add_pages(app: FastAPI) -> None:
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for path, name in (("/", "index.html"), ("/docs", "docs.html")):
        app.add_api_route(path, lambda name=name: FileResponse(STATIC / name), include_in_schema=False)


def _edited(tree: Tree, request: schemas.EditIn) -> Tree:
    match request.action:
        case schemas.Action.word:
            return edit.set_word(tree, request.position, request.word)
        case schemas.Action.fields:
            return edit.set_fields(tree, request.position, request.parent_label, request.label)
        case schemas.Action.drop:
            return edit.drop(tree, request.position)
        case schemas.Action.root:
            return tree.reroot(request.position)
        case schemas.Action.blank:
            return edit.move_blank(tree, request.position)


def _nodes(question: Question) -> list[schemas.Node]:
    unknown = set(question.unknown)
    return [
        schemas.Node(
            position=at,
            word="|" if place.tree.alternatives else place.tree.word,
            parent=place.parent,
            parent_label=place.edge.parent_label if place.edge else "",
            label=place.edge.label if place.edge else "",
            group=place.edge.group if place.edge else 0,
            negated=bool(place.edge and place.edge.negated),
            unknown=place.tree.word in unknown,
        )
        for at, place in enumerate(question.tree.places)
    ]


def _checked(question: Question) -> Question:
    if len(_small(question.tree).blanks()) > schemas.MOST_BLANKS:
        raise InputError(f"too many blanks: expected at most {schemas.MOST_BLANKS}")
    return question


def _small(tree: Tree) -> Tree:
    if len(tree) > schemas.MOST_NODES:
        raise InputError(f"a tree of {len(tree)} nodes is too large: expected at most {schemas.MOST_NODES}")
    return tree


def _refuse(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 400)


def _fail(_: Request, error: Exception) -> JSONResponse:
    """A bug: told to the log by the server, not to the browser."""
    return JSONResponse({"detail": "this question met an error in the program; it has been logged"}, 500)
