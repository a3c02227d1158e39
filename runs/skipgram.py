"""Skip-gram vectors by gensim of a forest's words in the order of the text: python runs/skipgram.py FOREST OUT DIM."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from vecdcs.corpus.forest import Forest


class Sentences:
    """The words of every sentence, as often as gensim asks for them."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest

    def __iter__(self) -> Iterator[list[str]]:
        for shard in self.forest.shards:
            nodes = (
                self.forest.nodes(shard)
                .select(["sentence", "token", "word"])
                .sort_by([("sentence", "ascending"), ("token", "ascending")])
            )
            words, last = list[str](), -1
            for sentence, word in zip(nodes["sentence"].to_pylist(), nodes["word"].to_pylist(), strict=True):
                if sentence != last and words:
                    yield words
                    words = []
                last = sentence
                words.append(word.replace(" ", "_"))
            yield words


def main(forest: str, output: str, dim: str) -> None:
    """Train, and write a word2vec text file."""
    from gensim.models import Word2Vec

    chosen = {"sg": 1, "negative": 5, "window": 5, "min_count": 5, "epochs": 5, "workers": 1, "seed": 1}
    model = Word2Vec(Sentences(Forest.open(forest)), vector_size=int(dim), **chosen)
    aside = Path(output + ".part")
    model.wv.save_word2vec_format(str(aside))
    aside.replace(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
