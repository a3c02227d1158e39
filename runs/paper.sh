#!/bin/sh
# The paper's experiments from raw text to tables. Killed at any point, the same command goes on where it stopped.
#   SIZE=small|base|full DATA=folder OUT=folder VECTORS=glove.txt sh runs/paper.sh
# DATA holds corpus/general, corpus/novels (.txt.xz) and eval; VECTORS, a word2vec or GloVe text file, is optional.
set -eu

SIZE=${SIZE:-small}
DATA=${DATA:-../shared/data}
OUT=${OUT:-runs/out/$SIZE}
RESULTS=${RESULTS:-results/$SIZE}
case $SIZE in # bytes of text from each file, dimension, passes over general text and over novels
    small) BYTES=250000 DIM=50 GENERAL=2 NOVELS=4 ;;
    base) BYTES=5000000 DIM=100 GENERAL=2 NOVELS=6 ;;
    full) BYTES=0 DIM=250 GENERAL=2 NOVELS=12 ;;
    *) echo "SIZE=$SIZE: expected small, base or full" >&2; exit 2 ;;
esac
mkdir -p "$OUT"

say() { echo "== $*" >&2; }

# 1. Text: all of it as it is, or the beginning of every file, without a last half line.
text() { # kind; prints the folder
    if [ "$BYTES" = 0 ]; then
        echo "$DATA/corpus/$1"
        return
    fi
    mkdir -p "$OUT/text/$1"
    for file in "$DATA/corpus/$1"/*.txt.xz; do
        target=$OUT/text/$1/$(basename "$file" .xz)
        [ -e "$target" ] && continue
        xz -dc "$file" 2>/dev/null | head -c "$BYTES" | sed '$d' >"$target.part"
        mv "$target.part" "$target"
    done
    echo "$OUT/text/$1"
}

# 2. Forests: the one of the text keeps its parses, of which the vecUD forest is made.
# Both are cut in two by sentence: models learn from `train`, `evaluate execution` asks about `hidden`.
forests() { # kind
    say "forests of $1"
    folder=$(text "$1")
    vecdcs build "$folder" -o "$OUT/forests/$1" --keep-parses
    vecdcs build "$OUT/forests/$1/parses" -o "$OUT/forests/$1-ud" --ud
    for name in "$1" "$1-ud"; do
        [ -e "$OUT/forests/$name-split" ] || vecdcs split "$OUT/forests/$name" -o "$OUT/forests/$name-split"
    done
}

# 3. Models; a finished one is left alone, a begun one goes on.
model() { # forest, name, epochs, options
    [ -e "$OUT/models/$2/manifest.json" ] && [ ! -e "$OUT/models/$2.training" ] && return
    say "train $2"
    vecdcs train "$1" -o "$OUT/models/$2" --dim "$DIM" --epochs "$3" $4
}

forests general
forests novels
mkdir -p "$OUT/models"
for kind in general novels; do
    if [ $kind = general ]; then passes=$GENERAL; else passes=$NOVELS; fi
    model "$OUT/forests/$kind-split/train" $kind-full $passes ""
    model "$OUT/forests/$kind-split/train" $kind-no-matrix $passes "--variant no-matrix"
    model "$OUT/forests/$kind-split/train" $kind-no-inverse $passes "--recipe paper --variant no-inverse"
    model "$OUT/forests/$kind-split/train" $kind-paper $passes "--recipe paper"
    model "$OUT/forests/$kind-ud-split/train" $kind-ud $passes "--variant ud"
done

# 4. Tables. Skip-gram by gensim (pip install 'vecdcs[baselines]') and a vectors file are rows of their own.
set --
[ -n "${VECTORS:-}" ] && set -- --vectors "GloVe=$VECTORS"
if python3 -c "import gensim" 2>/dev/null; then
    [ -e "$OUT/skip-gram.txt" ] || python3 runs/skipgram.py "$OUT/forests/general-split/train" "$OUT/skip-gram.txt" "$DIM"
    set -- "$@" --vectors "skip-gram=$OUT/skip-gram.txt"
fi
rows() { # kind
    for row in "vecDCS=full" "vecDCS (paper's recipe)=paper" "no matrix=no-matrix" "no inverse=no-inverse" "vecUD=ud"; do
        echo "--model"
        echo "${row%=*}=$OUT/models/$1-${row##*=}"
    done
}
evaluate() { # kind, results, options …
    kind=$1 target=$2
    shift 2
    while read -r argument; do set -- "$@" "$argument"; done <<EOT
$(rows "$kind")
EOT
    vecdcs evaluate all --data "$DATA/eval" --cache "$OUT/cache" -o "$target" "$@"
}
say "tables"
evaluate general "$RESULTS/general" --forest "$OUT/forests/general-split" --task phrase-similarity --task relations \
    --task preference --task execution --task intrinsic "$@"
evaluate novels "$RESULTS/novels" --task completion
vecdcs evaluate completion --data "$DATA/eval" --cache "$OUT/cache" --pmi "$OUT/forests/novels-split/train"
