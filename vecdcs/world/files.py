"""The small world on disk: raw text, UD trees, databases, questions, and a manifest."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

from vecdcs.dcs.database import FILE
from vecdcs.errors import InputError
from vecdcs.text.conllu import write_conllu
from vecdcs.world.queries import make_queries
from vecdcs.world.world import World

FORMAT, VERSION = "vecdcs-world", 1
MANIFEST = "manifest.json"
PARAGRAPH = 6  # sentences


def raw_text(world: World) -> str:
    """The sentences as plain text, a paragraph a line."""
    texts = [statement.sentence.text for statement in world.statements]
    paragraphs = (texts[start : start + PARAGRAPH] for start in range(0, len(texts), PARAGRAPH))
    return "".join(" ".join(paragraph) + "\n" for paragraph in paragraphs)


def conllu_text(world: World) -> str:
    """The sentences as CoNLL-U; a comment `# states =` gives each fact that a sentence states."""
    stream = io.StringIO()
    write_conllu((statement.sentence for statement in world.statements), stream)
    return stream.getvalue()


def queries_text(world: World) -> str:
    """The questions with their answers, one JSON object a line."""
    return "".join(json.dumps(query._asdict()) + "\n" for query in make_queries(world))


def write_world(world: World, folder: str | Path) -> None:
    """Write all there is of the world into a folder: each file aside and renamed, the manifest last."""
    target = Path(folder)
    texts = {"text.txt": raw_text, "sentences.conllu": conllu_text, "queries.jsonl": queries_text}
    try:
        target.mkdir(parents=True, exist_ok=True)
        (target / MANIFEST).unlink(missing_ok=True)
        for name, text in texts.items():
            _put(target / name, text(world))
        for name, database in (("database", world.database), ("stated", world.stated_database)):
            database.to_folder(target / name)
        names = [*texts, f"database/{FILE}", f"stated/{FILE}"]
        _put(target / MANIFEST, json.dumps(_manifest(world, target, names), indent=1) + "\n")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(target)) from error


def _put(path: Path, text: str) -> None:
    aside = path.with_name(path.name + ".part")
    aside.write_text(text, encoding="utf-8", newline="")
    aside.replace(path)


def _manifest(world: World, folder: Path, names: list[str]) -> dict[str, object]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "seed": world.seed,
        "entities": len(world.entities),
        "facts": len(world.facts),
        "stated": len(world.stated),
        "sentences": len(world.statements),
        "files": {name: _digest((folder / name).read_bytes()) for name in names},
    }


def _digest(data: bytes) -> dict[str, object]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
