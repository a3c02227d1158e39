"""The JSON interface: what it answers, what it refuses, and what no input can make it do."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import httpx
import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from made_models import random_model, world_folder
from schemathesis.specs.openapi.checks import positive_data_acceptance
from served import served
from strategies import trees

from vecdcs.dcs.tree import BLANK, Tree
from vecdcs.errors import InputError
from vecdcs.model.ask import load
from vecdcs.web import edit
from vecdcs.web.app import make_app
from vecdcs.web.limits import MOST_BYTES
from vecdcs.web.schemas import MOST_NODES
from vecdcs.web.serve import listen

PLAIN = make_app(random_model())
fuzzed = schemathesis.openapi.from_asgi("/openapi.json", PLAIN)


@pytest.fixture
def client() -> TestClient:
    return TestClient(PLAIN, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def world() -> Iterator[TestClient]:
    with TestClient(make_app(load(world_folder() / "model"), world_folder() / "forest")) as client:
        yield client


def post(client: TestClient, path: str, **body: object) -> httpx.Response:
    return client.post(f"/api/{path}", json=body)


def test_ask(client: TestClient) -> None:
    found = post(client, "ask", text="banned quuxes", k=3, pos="NV").json()
    assert found["tree"] == "quux/N & ban/V.COMP" and found["unknown"] == ["quux/N"]
    assert [node["word"] for node in found["nodes"]] == ["quux/N", "ban/V"]
    assert found["nodes"][1]["label"] == "COMP" and found["nodes"][0]["unknown"]
    assert len(found["answers"]) == 3
    assert all(answer["word"][-1] in "NV" for answer in found["answers"])


def test_ask_is_what_the_model_answers(client: TestClient) -> None:
    found = post(client, "ask", text="sell/V & SUBJ:_ & COMP:_", blank=1, by="score", own_words=True).json()
    expected = random_model().ask("sell/V & SUBJ:_ & COMP:_", blank=1).answers(by="score", own_words=True)
    assert [answer["word"] for answer in found["answers"]] == [answer.word for answer in expected]
    assert found["blanks"] == [1, 2] and found["asked"] == 2


def test_ask_with_a_corpus(world: TestClient) -> None:
    found = post(world, "ask", text="Who sells drugs?", k=60).json()
    assert {answer["kind"] for answer in found["answers"]} == {"exact", "inferred"}
    assert found["answers"][0]["evidence"][0]["text"]
    assert world.get("/api/model").json()["sentences"] >= 1500


def test_explain(client: TestClient) -> None:
    text = "ban/V & SUBJ:canada/N & COMP:_"
    found = post(client, "explain", text=text, words=["drug/N", "book/N"]).json()
    for answer in found["answers"]:
        assert sum(answer["contributions"]) == pytest.approx(answer["score"], abs=1e-6)
    # positions are those of the tree as it was asked, though it is hung up at its blank
    nodes = Tree.parse(text).nodes()
    assert [nodes[part["position"]].word for part in found["parts"]] == [part["word"] for part in found["parts"]]


def test_similar_nearest_complete_words_model(client: TestClient) -> None:
    assert post(client, "similar", one="drug/N", other="drug/N").json()["similarity"] == pytest.approx(1, abs=1e-5)
    assert len(post(client, "nearest", text="drug/N", k=3).json()["nearest"]) == 3
    choices = post(client, "complete", text="sell/V & COMP:_", candidates=["drug/N", "book/N"]).json()["choices"]
    assert {choice["candidate"] for choice in choices} == {"drug/N", "book/N"}
    assert client.get("/api/words", params={"prefix": "b"}).json() == {"names": ["ban/V", "book/N", "burn down/V"]}
    assert client.get("/api/model").json()["sentences"] is None


EDITS = [
    ({"action": "word", "position": 1, "word": "sell/V"}, "drug/N & (sell/V & SUBJ:canada/N).COMP"),
    (
        {"action": "fields", "position": 1, "parent_label": "in", "label": "SUBJ"},
        "drug/N & in:(ban/V & SUBJ:canada/N).SUBJ",
    ),
    ({"action": "drop", "position": 2}, "drug/N & ban/V.COMP"),
    ({"action": "root", "position": 1}, "ban/V & SUBJ:canada/N & COMP:drug/N"),
    ({"action": "blank", "position": 2}, "_ & (ban/V & COMP:drug/N).SUBJ"),
]


@pytest.mark.parametrize("change, expected", EDITS)
def test_edit(client: TestClient, change: dict[str, object], expected: str) -> None:
    found = post(client, "edit", tree="drug/N & (ban/V & SUBJ:canada/N).COMP", **change).json()
    assert Tree.parse(found["tree"]) == Tree.parse(expected)


def test_moving_the_blank_leaves_no_empty_one() -> None:
    moved = edit.move_blank(Tree.parse("_ & (sell/V & COMP:drug/N).SUBJ"), 2)
    assert moved == Tree.parse("_ & sell/V.COMP")
    kept = edit.move_blank(Tree.parse("(_ & old/J.SUBJ) & (sell/V & COMP:drug/N).SUBJ"), 3)
    assert kept == Tree.parse("_ & (sell/V & SUBJ:(_ & old/J.SUBJ)).COMP")


@given(trees())
@settings(max_examples=50)
def test_every_edit_gives_a_tree_that_can_be_written(tree: Tree) -> None:
    for at in range(1, len(tree)):
        smaller = edit.drop(tree, at)
        assert len(smaller) == len(tree) - len(tree.subtree(at))
        relabelled = edit.set_fields(tree, at, "x", "y")
        assert {relabelled.places[at].edge.parent_label, relabelled.places[at].edge.label} == {"x", "y"}  # type: ignore[union-attr]
        assert Tree.parse(str(relabelled)) == relabelled
    for at in range(len(tree)):
        moved = edit.move_blank(tree, at)
        assert moved.word == BLANK and Tree.parse(str(moved)) == moved
        origin = edit.origins(tree, at)
        hung = tree.reroot(at) if at else tree
        assert [tree.nodes()[place].word for place in origin] == [node.word for node in hung.nodes()]


@pytest.mark.parametrize(
    "path, body, message",
    [
        ("ask", {"text": "drug/N & &"}, "column"),
        ("ask", {"text": ""}, "no word"),
        ("ask", {"text": "_"}, "nothing to ask"),
        ("ask", {"text": "drug/N", "blank": 3}, "blank 3"),
        ("ask", {"text": "drug/N | book/N"}, "exact answers only"),
        ("ask", {"text": " & ".join(["a/N"] * (MOST_NODES + 1))}, "too large"),
        ("ask", {"text": "drug/N" + " & _" * 5}, "too many blanks"),
        ("explain", {"text": "drug/N", "words": ["zzz/N"]}, "does not know"),
        ("explain", {"text": "drug/N & ~ban/V", "words": ["book/N"]}, "no vector"),
        ("similar", {"one": "drug/N", "other": "_"}, "nothing to ask"),
        ("complete", {"text": "no blank", "candidates": ["x"]}, "no blank"),
        ("edit", {"tree": "drug/N", "action": "drop", "position": 0}, "no edge"),
        ("edit", {"tree": "drug/N", "action": "root", "position": 5}, "no node 5"),
        ("edit", {"tree": "drug/N", "action": "word", "position": 0, "word": " "}, "expected a word"),
        ("edit", {"tree": "a/N & b/N", "action": "fields", "position": 1}, "expected a field"),
        ("edit", {"tree": "(a/N & b/N | c/N) & d/N", "action": "drop", "position": 2}, "union"),
        ("edit", {"tree": "a/N | c/N", "action": "drop", "position": 1}, "union"),
    ],
)
def test_what_cannot_be_asked_is_refused(client: TestClient, path: str, body: dict[str, object], message: str) -> None:
    done = client.post(f"/api/{path}", json=body)
    assert done.status_code == 400 and message in done.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [{}, {"text": "x" * 1001}, {"text": "a", "k": 101}, {"text": "a", "k": 0}, {"text": 1}, {"text": "a", "z": 1}, []],
)
def test_what_is_not_a_request_is_refused(client: TestClient, body: object) -> None:
    assert client.post("/api/ask", json=body).status_code == 422


def test_size_is_limited(client: TestClient) -> None:
    done = client.post("/api/ask", content=b" " * (MOST_BYTES + 1), headers={"Content-Type": "application/json"})
    assert done.status_code == 413 and "bytes" in done.json()["detail"]

    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 4096

    assert client.post("/api/ask", content=endless(), headers={"Content-Type": "application/json"}).status_code == 413


def test_a_bug_shows_no_traceback(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from vecdcs.model.ask import Asker

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Asker, "ask", broken)
    done = post(client, "ask", text="drug/N")
    assert done.status_code == 500 and "secret" not in done.text and "Traceback" not in done.text


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/docs", "/static/app.js", "/static/style.css", "/openapi.json", "/api/model", "/none"):
        done = client.get(path)
        policy = done.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        assert done.headers["x-content-type-options"] == "nosniff"
        assert done.status_code == (404 if path == "/none" else 200)
    for path in ("/", "/docs"):
        text = client.get(path).text
        assert not re.search(r'(src|href)="(https?:)?//', text)
        assert not re.search(r"<script(?![^>]*src=)|style=|\son\w+=", text)


def test_only_its_own_names_are_answered_to() -> None:
    guarded = TestClient(make_app(random_model(), hosts=["127.0.0.1"]), base_url="http://evil.example")
    assert guarded.get("/api/model").status_code == 400
    home = TestClient(make_app(random_model(), hosts=["127.0.0.1"]), base_url="http://127.0.0.1:8016")
    assert home.get("/api/model").status_code == 200


def test_text_stays_text(client: TestClient) -> None:
    text = '"<img src=x onerror=alert(1)>/N" & ban/V.COMP'
    done = post(client, "ask", text=text)
    assert done.headers["content-type"] == "application/json"
    assert done.json()["nodes"][0]["word"] == "<img src=x onerror=alert(1)>/N"


@fuzzed.parametrize()
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_fuzz(case: schemathesis.Case) -> None:
    """Whatever is sent, the answer is as the interface describes, and never a server error."""
    response = case.call()
    case.validate_response(response, excluded_checks=[positive_data_acceptance])  # a fit request may be no question


def test_many_clients_at_once() -> None:
    """Fifty clients for a moment; benchmarks/web_load.py has the long version with its percentiles."""
    import asyncio

    questions = ["banned drugs", "drug/N & ban/V.COMP", "_ & about:learn/V", "Who sells books?", "old/J"]

    async def client(number: int, url: str) -> list[int]:
        async with httpx.AsyncClient(base_url=url, timeout=60) as session:
            asked = [questions[(number + turn) % len(questions)] for turn in range(4)]
            return [(await session.post("/api/ask", json={"text": text})).status_code for text in asked]

    async def all_clients(url: str) -> list[list[int]]:
        return await asyncio.gather(*(client(number, url) for number in range(50)))

    with served(PLAIN) as url:
        found = asyncio.run(all_clients(url))
    assert {status for statuses in found for status in statuses} == {200}


def test_serve_tells_its_address_and_stops() -> None:
    model = world_folder() / "model"
    command = [sys.executable, "-u", "-m", "vecdcs", "serve", "-m", str(model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
        assert address
        with urllib.request.urlopen(f"{address[0]}/api/model", timeout=60) as response:
            assert response.status == 200
        server.terminate()
        server.wait(timeout=30)


def test_a_port_that_is_taken() -> None:
    taken = listen("127.0.0.1", 0)
    with taken, pytest.raises(InputError, match="cannot listen"):
        listen("127.0.0.1", taken.getsockname()[1])
