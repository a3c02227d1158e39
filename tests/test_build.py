"""Builds: the same bytes however interrupted and by however many workers; changed or broken input is named."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from operator import add
from pathlib import Path

import pytest
from corpora import contents, sentences, write_conllu
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.cli.progress import build_progress, describe, summary
from vecdcs.corpus.build import Progress, build
from vecdcs.corpus.forest import Forest
from vecdcs.corpus.pieces import MAX_LINE, Bad, conllu_blocks, find_sources, is_wrapped, jobs, paragraphs
from vecdcs.corpus.shard import Options, Placing
from vecdcs.dcs.convert import Node, convert, convert_ud
from vecdcs.engines import local
from vecdcs.errors import InputError, VecdcsError
from vecdcs.text.conllu import format_sentence
from vecdcs.text.source import open_bytes

SMALL = Options(shard_bytes=2000)
KEEPING = Options(shard_bytes=2000, keep_parses=True)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for number, count in enumerate((300, 20, 20, 400)):
        write_conllu(folder / f"part{number}.conllu", count, seed=number)
    return folder


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "forest"
    build([corpus], folder, SMALL)
    return folder


@pytest.fixture(scope="module")
def kept(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same forest with its parses."""
    folder = tmp_path_factory.mktemp("kept") / "forest"
    build([corpus], folder, KEEPING)
    return folder


def start_build(corpus: Path, forest: Path, workers: int) -> subprocess.Popen[bytes]:
    arguments = ["build", str(corpus), "-o", str(forest), "--shard-bytes", "2000", "--workers", str(workers)]
    arguments.append("--keep-parses")
    return subprocess.Popen([sys.executable, "-m", "vecdcs", *arguments, "--quiet"])


def kill_at(process: subprocess.Popen[bytes], forest: Path, reports: int, delay: float) -> None:
    """Kill -9 once so many shards are finished, a moment later."""
    while process.poll() is None and len(list(forest.glob("shards/*.report.json"))) < reports:
        time.sleep(0.0005)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_killed_at_ten_random_points_it_ends_with_the_same_bytes(corpus: Path, kept: Path, tmp_path: Path) -> None:
    forest = tmp_path / "forest"
    rng = random.Random(os.urandom(8))
    shards = len(Forest.open(kept).shards)
    assert shards > 12
    points = [*sorted(rng.randrange(shards) for _ in range(9)), shards]
    for point in points:
        kill_at(start_build(corpus, forest, workers=1), forest, point, rng.random() * 0.02)
        assert not (forest / "manifest.json").exists() or point == shards
    assert start_build(corpus, forest, workers=2).wait() == 0
    assert contents(forest) == contents(kept)


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_gives_the_same_bytes(corpus: Path, whole: Path, tmp_path: Path, workers: int) -> None:
    def engine(function, tasks):  # type: ignore[no-untyped-def]
        return local.run(function, tasks, workers)

    build([corpus], tmp_path / "forest", SMALL, engine)
    assert contents(tmp_path / "forest") == contents(whole)


def test_what_is_finished_is_not_done_again(corpus: Path, whole: Path, tmp_path: Path) -> None:
    def stop_after_five(function, tasks):  # type: ignore[no-untyped-def]
        for count, task in enumerate(tasks):
            if count == 5:
                raise KeyboardInterrupt
            yield function(task)

    forest = tmp_path / "forest"
    with pytest.raises(KeyboardInterrupt):
        build([corpus], forest, SMALL, stop_after_five)
    seen = Progress()
    build([corpus], forest, SMALL, progress=seen)
    assert seen.resumed == 5
    before = sum(Forest.open(forest).manifest["shards"][shard]["sentences"] for shard in range(5))
    assert seen.fresh["sentences"] == seen.done["sentences"] - before == 740 - before
    assert contents(forest) == contents(whole)
    again = Progress()
    build([corpus], forest, SMALL, progress=again)
    assert again.resumed == again.done["shards"] and not again.fresh


def test_the_forest_holds_what_the_converter_gives(corpus: Path, whole: Path) -> None:
    forest = Forest.open(whole)
    expected = [item for number, count in enumerate((300, 20, 20, 400)) for item in sentences(count, number)]
    rows = [row for shard in forest.shards for row in forest.nodes(shard).to_pylist()]
    nodes = [node for item in expected for tree in convert(item) for node in tree]
    assert [tuple(row[name] for name in Node._fields) for row in rows] == nodes
    assert [found.text for found in forest.sentences()] == [item.text for item in expected]
    assert forest.totals["words"] == sum(len(item.tokens) for item in expected)


def test_sentences_know_their_file_and_line(corpus: Path, whole: Path) -> None:
    forest = Forest.open(whole)
    for number in (0, 7, 299, 300, 345, 739):
        found = forest.sentence(number)
        assert Path(found.source).read_text().split("\n")[found.line - 1] == f"# text = {found.text}"


def test_ud_forest(corpus: Path, tmp_path: Path) -> None:
    forest = build([corpus / "part1.conllu"], tmp_path / "ud", Options(ud=True))
    words = [row["word"] for shard in forest.shards for row in forest.nodes(shard).to_pylist()]
    assert forest.ud
    assert words == [node.word for item in sentences(20, 1) for tree in convert_ud(item) for node in tree]
    assert "nsubj" in forest.field_weights() and "SUBJ" not in forest.field_weights()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (Options(shard_bytes=2000, ud=True), "option ud"),
        (Options(shard_bytes=3000), "option shard_bytes"),
        (KEEPING, "option keep_parses = False, now it is True"),
    ],
)
def test_a_changed_option_is_named(corpus: Path, whole: Path, options: Options, named: str) -> None:
    with pytest.raises(InputError, match=named):
        build([corpus], whole, options)


def test_changed_input_is_named(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("a", "b"):
        write_conllu(source / f"{name}.conllu", 60)
    build([source], tmp_path / "forest", SMALL)
    text = (source / "b.conllu").read_text()
    at = text.index("1\tthe", len(text) // 2)
    (source / "b.conllu").write_text(text[:at] + "1\tThe" + text[at + 5 :])
    with pytest.raises(InputError, match=r"b\.conllu:\d+: the input has changed here"):
        build([source], tmp_path / "forest", SMALL)
    (source / "b.conllu").write_text(text + text)
    with pytest.raises(InputError, match=r"b\.conllu of bytes"):
        build([source], tmp_path / "forest", SMALL)
    write_conllu(source / "c.conllu", 3)
    with pytest.raises(InputError, match=r"2 input files, without or with .*c\.conllu"):
        build([source], tmp_path / "forest", SMALL)


def test_other_files_than_before_are_named(tmp_path: Path) -> None:
    one, two = (write_conllu(tmp_path / f"{name}.conllu", 5) for name in "ab")
    build([one, two], tmp_path / "forest")
    with pytest.raises(InputError, match=r"the input file .*a\.conllu.* now it is .*b\.conllu"):
        build([two, one], tmp_path / "forest")
    (tmp_path / "forest" / "plan.json").write_text("{")
    with pytest.raises(InputError, match=r"plan\.json: not valid JSON"):
        build([one, two], tmp_path / "forest")


def test_a_shorter_standard_input_is_noticed(corpus: Path, tmp_path: Path) -> None:
    pieces = [job.pieces[0] for job in jobs([str(corpus / "part0.conllu")], "conllu", 2000, Bad())]
    arguments = ["build", "-", "--format", "conllu", "-o", str(tmp_path / "forest"), "--shard-bytes", "2000", "-q"]
    for used in (pieces, pieces[:-1]):
        result = CliRunner().invoke(app, [*arguments, "--workers", "1"], input=b"".join(piece.data for piece in used))
    assert isinstance(result.exception, InputError) and "shorter than when" in str(result.exception)


def test_the_folder_must_be_new(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        build([corpus], tmp_path, SMALL)


def test_a_folder_that_cannot_be_written(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="file/forest: cannot be written: Not a directory"):
        build([corpus], tmp_path / "file" / "forest", SMALL)


def test_a_full_disk(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        build([corpus], tmp_path / "forest", SMALL)
    monkeypatch.undo()
    build([corpus], tmp_path / "forest", SMALL)


def test_file_names_that_are_not_utf8(tmp_path: Path) -> None:
    source = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.conllu"))
    write_conllu(source, 3)
    forest = build([source], tmp_path / "forest")
    assert forest.sentence(0).source.endswith("caf\ufffd.conllu")
    seen = Progress()
    build([source], tmp_path / "forest", progress=seen)
    assert seen.resumed == 1


def test_an_unfinished_forest_does_not_open(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no forest here"):
        Forest.open(tmp_path)
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(InputError, match="not finished"):
        Forest.open(tmp_path)


def test_a_damaged_forest_is_noticed(whole: Path, tmp_path: Path) -> None:
    for name, data in contents(whole).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    forest = Forest.open(tmp_path)
    forest.check()
    (tmp_path / "words.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"words\.parquet"):
        forest.check()
    with pytest.raises(InputError, match=r"words\.parquet"):
        forest.word_weights()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"version": 99}))
    with pytest.raises(InputError, match="version 99"):
        Forest.open(tmp_path)


# Kept parses


def rows(forest: Forest) -> list[tuple[object, ...]]:
    """All sentences, each with its place and its nodes, wherever the shards are cut."""
    found: list[tuple[object, ...]] = []
    for shard in forest.shards:
        for row in forest.nodes(shard).to_pylist():
            found.append((*forest.sentence(forest.first_sentences[shard] + row.pop("sentence")), *row.values()))
    return found


def test_kept_parses_are_beside_the_same_forest(whole: Path, kept: Path) -> None:
    forest = Forest.open(kept)
    forest.check()
    assert all(f"parses/{shard:06d}.conllu.zst" in forest.manifest["files"] for shard in forest.shards)
    same, more = contents(whole), contents(kept)
    assert {name for name in more if more[name] != same.get(name)} == {
        "manifest.json", "plan.json", *(name for name in more if name.startswith("parses/") or "report" in name)
    }  # fmt: skip


def test_a_forest_of_kept_parses_is_the_one_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(TEXT + "\n\n# Not a comment, a café.\n")
    write_conllu(tmp_path / "in" / "b.conllu", 40)
    direct = build([tmp_path / "in"], tmp_path / "direct", Options(shard_bytes=150, keep_parses=True))
    again = build([tmp_path / "direct" / "parses"], tmp_path / "again", KEEPING)
    assert rows(again) == rows(direct) and len(rows(again)) > 200
    assert {Path(found.source).name for found in again.sentences()} == {"a.txt", "b.conllu"}
    assert again.manifest["parser_weights"] is None
    third = build([tmp_path / "again" / "parses"], tmp_path / "third", Options(ud=True, keep_parses=True))
    assert [found[:4] for found in third.sentences()] == [found[:4] for found in direct.sentences()]
    assert parses(direct) == parses(again) == parses(third)


def parses(forest: Forest) -> bytes:
    """What was kept, as one text."""
    files = sorted((forest.path / "parses").iterdir())
    with ExitStack() as stack:
        return b"".join(stack.enter_context(open_bytes(path)).read() for path in files)


def test_a_source_comment_of_other_conllu_is_no_place(tmp_path: Path) -> None:
    told = [f"# source = {place}\n" for place in ("web", "a:b", "a:7")]
    (tmp_path / "a.conllu").write_text("".join(map(add, told, map(format_sentence, sentences(3)))))
    forest = build([tmp_path / "a.conllu"], tmp_path / "forest")
    assert [found.source for found in forest.sentences()] == [str(tmp_path / "a.conllu")] * 2 + ["a"]
    assert forest.sentence(0).line == 1 and forest.sentence(2).line == 7


def test_forests_begun_before_an_option_was_there_go_on(corpus: Path, tmp_path: Path) -> None:
    build([corpus], tmp_path / "forest", SMALL)
    plan = json.loads((tmp_path / "forest" / "plan.json").read_text())
    del plan["options"]["keep_parses"]
    (tmp_path / "forest" / "plan.json").write_text(json.dumps(plan))
    build([corpus], tmp_path / "forest", SMALL)


# Costs


def test_costs_are_logged_beside_the_forest_over_all_runs(corpus: Path, tmp_path: Path) -> None:
    def killed(function, tasks):  # type: ignore[no-untyped-def]
        yield function(next(iter(tasks)))
        raise KeyboardInterrupt

    forest, log = tmp_path / "forest", tmp_path / "forest.costs.jsonl"
    log.write_text("of a forest that was removed\n")
    with pytest.raises(KeyboardInterrupt):
        build([corpus], forest, KEEPING, killed)
    built = build([corpus], forest, KEEPING)
    *lines, total = map(json.loads, log.read_text().splitlines())
    assert [line["what"] for line in lines] == [*(f"shard {shard}" for shard in built.shards), "index"]
    assert total["what"] == "all" and total["words"] == built.totals["words"]
    assert set(total["seconds"]) == {"parse", "convert", "keep", "write", "index"}
    converting = sum(line["seconds"].get("convert", 0) for line in lines)
    assert total["seconds"]["convert"] == pytest.approx(converting, abs=1e-3)
    assert total["memory"]["main"] >= total["memory"]["worker"] > 1 << 20


# Broken input


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder with good CoNLL-U, and files that are broken in every way."""
    folder = tmp_path / "broken"
    folder.mkdir()
    write_conllu(folder / "a_good.conllu", 30)
    (folder / "b_binary.conllu").write_bytes(bytes(range(256)) * 100)
    data = gzip.compress((folder / "a_good.conllu").read_bytes())
    (folder / "c_truncated.conllu.gz").write_bytes(data[: len(data) // 2])
    good = (folder / "a_good.conllu").read_bytes().split(b"\n\n")
    (folder / "d_latin1.conllu").write_bytes(b"\n\n".join([good[0], good[1].replace(b"the", b"th\xe9"), good[2], b""]))
    (folder / "e_columns.conllu").write_bytes(b"\n\n".join([good[0].replace(b"NOUN\t", b"NOUN"), good[2], b""]))
    write_conllu(folder / "z_good.conllu", 30, seed=5)
    return folder


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b_binary.conllu", "zero byte"),
        ("c_truncated.conllu.gz", "ends too early"),
        ("d_latin1.conllu", "not UTF-8"),
        ("e_columns.conllu", "expected 10 tab-separated columns"),
        ("none.txt", "No such file"),
    ],
)
def test_broken_input_is_named(broken: Path, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        build([broken / "a_good.conllu", broken / name], tmp_path / "forest", SMALL)
    assert str(caught.value).startswith(str(broken / name))


def test_a_missing_file_begins_nothing(broken: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        build([broken / "a_good.conllu", tmp_path / "none.txt"], tmp_path / "forest", SMALL)
    assert not (tmp_path / "forest").exists()


def test_broken_input_is_skipped_and_counted(broken: Path, tmp_path: Path) -> None:
    forest = build([broken, tmp_path / "none.txt"], tmp_path / "forest", Options(shard_bytes=2000, skip_bad=True))
    assert forest.totals["skipped"] == 5
    assert forest.totals["sentences"] >= 63
    named = "".join(forest.manifest["errors"])
    assert all(name in named for name in ("b_binary", "c_truncated", "d_latin1", "e_columns", "none.txt"))
    texts = {found.text for found in forest.sentences()}
    assert {item.text for item in sentences(30, 5)} <= texts


def test_a_long_line(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"First line.\n" + b"x" * (MAX_LINE * 3) + b"\nThird line.\n")
    with pytest.raises(InputError, match=r"long\.txt:2: a line of more than 8 MB"):
        list(jobs([str(path)], "auto", 1000, Bad()))
    bad = Bad(skip=True)
    pieces = [piece for job in jobs([str(path)], "auto", 1000, bad) for piece in job.pieces]
    assert [(piece.line, piece.data) for piece in pieces] == [(1, b"First line.\n"), (3, b"Third line.\n")]
    assert len(bad.errors) == 1


def test_a_long_sentence_of_conllu(tmp_path: Path) -> None:
    path = tmp_path / "long.conllu"
    path.write_bytes(b"1\tok\n\n" + b"1\tx\n" * MAX_LINE + b"\n1\tend\n\n")
    bad = Bad(skip=True)
    pieces = [piece for job in jobs([str(path)], "auto", 10, bad) for piece in job.pieces]
    assert [(piece.line, piece.data) for piece in pieces] == [(1, b"1\tok\n\n"), (MAX_LINE + 4, b"1\tend\n\n")]


def test_no_input_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no file ending in"):
        find_sources([tmp_path / "empty"], Bad())
    (tmp_path / "empty.conllu").write_text("")
    with pytest.raises(InputError, match="no trees in the input"):
        build([tmp_path / "empty.conllu"], tmp_path / "forest")


def test_an_unreadable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_conllu(tmp_path / "a.conllu", 3)
    (tmp_path / "locked").mkdir()
    scandir = os.scandir

    def locked(path):  # type: ignore[no-untyped-def]
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", locked)
    with pytest.raises(InputError, match="locked: cannot be read: Permission denied"):
        find_sources([tmp_path], Bad())
    bad = Bad(skip=True)
    assert find_sources([tmp_path], bad) == [str(tmp_path / "a.conllu")]
    assert len(bad.errors) == 1


# Cutting


def test_pieces_do_not_depend_on_how_bytes_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    words = ["word"] * 5 + ["\n", "\n\n", "\r\n \r\n"]
    text = "".join(rng.choice(words) for _ in range(4000)).encode()
    for name in ("a.txt", "b.conllu"):
        (tmp_path / name).write_bytes(text)
    for format in ("lines", "wrapped", "auto"):
        cuts = []
        for chunk in (1 << 18, 7, 64):
            monkeypatch.setattr("vecdcs.corpus.pieces.CHUNK", chunk)
            cuts.append(list(jobs([str(tmp_path / "a.txt"), str(tmp_path / "b.conllu")], format, 500, Bad())))
        assert cuts[0] == cuts[1] == cuts[2]
        pieces = [piece for job in cuts[0] for piece in job.pieces]
        assert b"".join(piece.data for piece in pieces) == text + text
        assert len(cuts[0]) > 5
        for piece in pieces:
            before = text.find(piece.data)
            assert before >= 0


def test_wrapped_text_without_empty_lines_is_cut_at_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecdcs.corpus.pieces.MAX_LINE", 100)
    (tmp_path / "a.txt").write_bytes(b"some words of a text\n" * 50)
    pieces = [piece for job in jobs([str(tmp_path / "a.txt")], "wrapped", 60, Bad()) for piece in job.pieces]
    assert len(pieces) > 3 and all(piece.data.endswith(b"\n") and len(piece.data) <= 160 for piece in pieces)
    assert b"".join(piece.data for piece in pieces) == b"some words of a text\n" * 50


def test_the_last_paragraph_needs_no_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"One.\n\nTwo\nlines")
    (job,) = jobs([str(tmp_path / "a.txt")], "wrapped", 1000, Bad())
    assert list(paragraphs(job.pieces[0], Bad())) == [("One.", 1), ("Two lines", 3)]
    last = format_sentence(sentences(1)[0]).rstrip("\n")
    (tmp_path / "b.conllu").write_text("\n\n" + last)
    (job,) = jobs([str(tmp_path / "b.conllu")], "auto", 1000, Bad())
    assert list(conllu_blocks(job.pieces[0], Bad())) == [(last, 3)]


def test_lines_that_are_not_utf8_are_bad_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Good.\nB\xe9d.\nGood again.\n")
    (job,) = jobs([str(tmp_path / "a.txt")], "lines", 1000, Bad())
    bad = Bad(skip=True)
    assert list(paragraphs(job.pieces[0], bad)) == [("Good.", 1), ("Good again.", 3)]
    assert [str(error) for error in bad.errors] == [f"{tmp_path / 'a.txt'}:2: not UTF-8 at byte 1 of the line"]


def test_wrapped_text_is_joined() -> None:
    wrapped = b"It was a fine day and the\nsun was high over the\nhills. We went out\nto see it.\n\nThen it\nrained.\n"
    assert is_wrapped(wrapped)
    assert not is_wrapped(b"One sentence here.\nAnother one there.\nA third.\nA fourth.\nA fifth.\n")
    assert not is_wrapped(b"A long paragraph " * 20 + b"\nin lines\nand more\nand more\nand more\n")


def test_paragraphs_have_their_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfOne\nand two.\n\n\nThree.\r\n")
    (job,) = jobs([str(tmp_path / "a.txt")], "wrapped", 1000, Bad())
    assert list(paragraphs(job.pieces[0], Bad())) == [("One and two.", 1), ("Three.", 5)]
    (job,) = jobs([str(tmp_path / "a.txt")], "lines", 1000, Bad())
    assert list(paragraphs(job.pieces[0], Bad())) == [("One", 1), ("and two.", 2), ("Three.", 5)]


def test_sentences_of_text_find_their_paragraph(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Yes. No. \t Yes.\n\nNo. He said  so.\nYes.\n")
    (job,) = jobs([str(tmp_path / "a.txt")], "lines", 1000, Bad())
    place = Placing(job.pieces, Bad())
    assert list(place.texts()) == ["Yes. No. Yes.", "No. He said so.", "Yes."]
    found = [place.of(text).line for text in ("Yes.", "No.", "Yes.", "No.", "(changed)", "He said so.", "Yes.")]
    assert found == [1, 1, 1, 3, 3, 3, 4]


# The engine


def double(number: int) -> int:
    if number < 0:
        raise InputError("negative", "numbers", number)
    return 2 * number


def die_once(path: str) -> str:
    if not Path(path).exists():
        Path(path).write_text("was here")
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_local_engine(workers: int) -> None:
    assert sorted(local.run(double, range(20), workers)) == [2 * number for number in range(20)]
    with pytest.raises(InputError, match="numbers:-1: negative"):
        list(local.run(double, [1, -1, 2], workers))


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "abc"]
    assert sorted(local.run(die_once, paths, 2)) == paths
    with pytest.raises(VecdcsError, match="died 3 times"):
        list(local.run(die, [1], 2))


# The command


def test_command(corpus: Path, whole: Path, tmp_path: Path) -> None:
    arguments = ["build", str(corpus), "-o", str(tmp_path / "forest"), "--shard-bytes", "2000", "--workers", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert all(told in result.stderr for told in ("740 sentences", "CPU seconds (µs a word)", "most memory"))
    assert contents(tmp_path / "forest") == contents(whole)


def test_command_reads_standard_input(corpus: Path, tmp_path: Path) -> None:
    arguments = ["build", "-", "--format", "conllu", "-o", str(tmp_path / "forest"), "--workers", "1", "-q"]
    result = CliRunner().invoke(app, arguments, input=(corpus / "part1.conllu").read_bytes())
    assert result.exit_code == 0, result.output
    assert Forest.open(tmp_path / "forest").totals["sentences"] == 20
    assert result.output == ""


# Raw text, with the shipped parser

TEXT = """A man sells banned drugs. The doctor wrote a letter to the teacher.

The cat sat on the mat, and the dog slept under the table.
Canada banned the drug in 1962.
"""


@pytest.fixture(scope="module")
def text_forest(tmp_path_factory: pytest.TempPathFactory) -> Forest:
    folder = tmp_path_factory.mktemp("text")
    (folder / "a.txt").write_text(TEXT)
    with gzip.open(folder / "b.txt.gz", "wt") as stream:
        stream.write(TEXT.replace("A man", "A woman"))
    write_conllu(folder / "c.conllu", 5)
    return build([folder], folder / "forest", Options(shard_bytes=150))


def test_text_is_parsed_and_every_sentence_found_again(text_forest: Forest) -> None:
    found = list(text_forest.sentences())
    assert len(found) == 4 + 4 + 5
    assert [(item.text, item.line) for item in found[:5]] == [
        ("A man sells banned drugs.", 1),
        ("The doctor wrote a letter to the teacher.", 1),
        ("The cat sat on the mat, and the dog slept under the table.", 3),
        ("Canada banned the drug in 1962.", 4),
        ("A woman sells banned drugs.", 1),
    ]
    assert [Path(item.source).name for item in found[3:5]] == ["a.txt", "b.txt.gz"]
    assert {"sell/V", "drug/N", "letter/N"} <= text_forest.word_weights().keys()


def test_text_gives_the_same_bytes_with_two_workers(text_forest: Forest, tmp_path: Path) -> None:
    def engine(function, tasks):  # type: ignore[no-untyped-def]
        return local.run(function, tasks, 2)

    sources = text_forest.manifest["sources"]
    build([text_forest.path.parent], tmp_path / "forest", Options(shard_bytes=150), engine)
    assert Forest.open(tmp_path / "forest").manifest["sources"] == sources
    assert contents(tmp_path / "forest") == contents(text_forest.path)


def test_changed_weights_of_the_parser_are_noticed(text_forest: Forest, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(text_forest.manifest["parser_weights"]) == 64
    monkeypatch.setattr("vecdcs.corpus.build._weights_digest", lambda parser: "other")
    with pytest.raises(InputError, match="parser weights"):
        build([text_forest.path.parent], text_forest.path, Options(shard_bytes=150))


# Progress


def progress_of_half() -> Progress:
    counts = {"sentences": 500, "words": 9000, "skipped": 2, "shards": 5}
    return Progress(
        total=1000, read=500, read_before=100, resumed=1, done=Counter(counts), fresh=Counter(counts),
        seconds={"parse": 0.9, "convert": 0.09},
    )  # fmt: skip


def test_progress_tells_speed_and_time_left() -> None:
    told = describe(progress_of_half(), elapsed=100.0)
    assert told == "500 sentences, 1 of 5 shards from before, 5/s, 2 skipped, 0:02:05 left"
    assert "CPU seconds (µs a word): parse 0.9 (100.0), convert 0.1 (10.0)" in summary(progress_of_half())
    assert describe(Progress(), 0.0) == "0 sentences, 0 skipped"


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_on_a_terminal_and_in_a_log(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "200")
    with build_progress(quiet=False) as watch:
        watch(progress_of_half())
        progress = progress_of_half()
        progress.stage = "index"
        watch(progress)
    told = capsys.readouterr().err
    assert "500 sentences" in told and "writing the index" in told and "50" in told
    with build_progress(quiet=True) as watch:
        watch(progress_of_half())
    assert capsys.readouterr().err == ""
