"""CoNLL-U in and out: what is read is what was written, and every error says where it is."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecdcs.errors import InputError, VecdcsError
from vecdcs.text.conllu import ConlluReader, Sentence, Token, format_sentence, parse_conllu, read_conllu, write_conllu

SAMPLE = """\
# newdoc id = small
# sent_id = 1
# text = Don't ban books.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp|VerbForm=Fin\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tban\tban\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_
4\tbooks\tbook\tNOUN\tNNS\tNumber=Plur\t3\tobj\t_\tSpaceAfter=No
4.1\tbanned\tban\tVERB\tVBN\t_\t_\t_\t3:dep\t_
5\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = 2
1\tKids\tkid\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tplay\tplay\tVERB\tVBP\t_\t0\troot\t_\t_

"""


def rows(*lines: str) -> str:
    """Rows of `id form head relation` as CoNLL-U."""
    filled = []
    for line in lines:
        number, form, head, relation = line.split(" ")
        filled.append("\t".join([number, form, form, "_", "_", "_", head, relation, "_", "_"]))
    return "\n".join(filled) + "\n\n"


def test_round_trip() -> None:
    sentences = parse_conllu(SAMPLE)
    stream = io.StringIO()
    write_conllu(sentences, stream)
    assert stream.getvalue() == SAMPLE
    assert [len(sentence.tokens) for sentence in sentences] == [5, 2]
    books = Token(4, "books", "book", "NOUN", "NNS", "Number=Plur", 3, "obj", "_", "SpaceAfter=No")
    assert sentences[0].tokens[3] == books


def test_text_from_comment_or_from_words() -> None:
    first, second = parse_conllu(SAMPLE)
    assert first.text == "Don't ban books."
    assert first.meta("sent_id") == "1" and first.meta("missing") is None
    assert Sentence(first.tokens, [], first.extras).text == "Don't ban books."
    assert second.text == "Kids play"


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_files(tmp_path: Path, ending: str, newline: str) -> None:
    path = tmp_path / f"sample.conllu{ending}"
    opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[ending]
    with opener(path, "wb") as stream:
        stream.write(b"\xef\xbb\xbf" + SAMPLE.replace("\n", newline).encode())
    assert "".join(map(format_sentence, read_conllu(path))) == SAMPLE


def test_last_sentence_needs_no_blank_line() -> None:
    assert len(parse_conllu(SAMPLE.rstrip("\n"))) == 2
    assert parse_conllu("") == [] and parse_conllu("# only a comment\n\n") == []


def test_extra_rows_at_the_end() -> None:
    text = rows("1 go 0 root").rstrip("\n") + "\n1.1\tx\tx\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert "".join(map(format_sentence, parse_conllu(text))) == text


def test_multiword_token_without_space_after() -> None:
    text = "1-2\tcannot\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n" + rows("1 can 2 aux", "2 not 0 root", "3 ! 2 punct")
    assert parse_conllu(text)[0].text == "cannot!"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1\tone\tcolumn\n\n", 1, "expected 10 tab-separated columns, found 3"),
        ("# c\n" + rows("2 two 0 root"), 2, "expected word id 1, found '2'"),
        (rows("1 a 0 root", "x b 1 dep"), 2, "expected an id such as 3, 3-4 or 3.1"),
        (rows("1 a 0 root", "2 b _ dep"), 2, "expected a number as head (column 7), found '_'"),
        (rows("1 a 0 root", "2 b ² dep"), 2, "expected a number as head (column 7), found '²'"),
        ("# c\n" + rows("1 a 0 root", "2 b 7 dep"), 3, "word 2: expected a head from 0 to 2, found 7"),
        (rows("1 a 0 root") + rows("1 a 2 x", "2 b 1 y"), 3, "heads form a cycle"),
        (rows("1 a 1 root"), 1, "heads form a cycle"),
        (rows("1  0 root"), 1, "found an empty column"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        list(read_conllu(path))
    assert raised.value.line == line and raised.value.file == str(path)
    assert message in str(raised.value) and str(raised.value).startswith(f"{path}:{line}: ")


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.conllu"
    path.write_bytes(b"# caf\xe9\n" + rows("1 a 0 root").encode())
    with pytest.raises(InputError, match=r"latin\.conllu:1: not UTF-8 at byte 5"):
        list(read_conllu(path))


def test_skip_bad_counts_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "mixed.conllu"
    blocks = ["# alone\n\n", rows("1 a 0 root"), "broken\n\n", rows("1 b 9 root"), rows("1 c 0 root")]
    path.write_text("".join(blocks), encoding="utf-8")
    reader = ConlluReader(path, skip_bad=True, keep_errors=1)
    assert [sentence.tokens[0].form for sentence in reader] == ["a", "c"]
    assert reader.skipped == 2 and len(reader.errors) == 1


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_conllu(tmp_path / "nothing.conllu"))


def test_truncated_archives(tmp_path: Path) -> None:
    data = SAMPLE.encode() * 100
    for name, packed in (("a.gz", gzip.compress(data)), ("a.xz", lzma.compress(data))):
        path = tmp_path / name
        path.write_bytes(packed[:-20])
        with pytest.raises(InputError, match=name):
            list(read_conllu(path))


@given(st.binary(max_size=300))
def test_any_bytes_give_sentences_or_a_vecdcs_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.conllu"
    path.write_bytes(data)
    with contextlib.suppress(VecdcsError):
        list(read_conllu(path))
    list(read_conllu(path, skip_bad=True))


COLUMN = st.sampled_from(["1", "2", "3", "1-2", "2.1", "_", "0", "root", "nsubj", "x y", "é", "-", "1-", "٣", "²", ""])


@given(st.lists(st.lists(COLUMN, min_size=9, max_size=11).map("\t".join), max_size=5))
def test_rows_of_odd_columns_give_sentences_or_a_vecdcs_error(lines: list[str]) -> None:
    try:
        sentences = parse_conllu("\n".join(lines))
    except VecdcsError:
        return
    assert "".join(map(format_sentence, parse_conllu("".join(map(format_sentence, sentences))))) == "".join(
        map(format_sentence, sentences)
    )
    assert all(isinstance(sentence.text, str) for sentence in sentences)
