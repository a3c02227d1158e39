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
CORES=$(getconf _NPROCESSORS_ONLN)
mkdir -p "$OUT"

say() { echo "== $*" >&2; }

# 1. Text: the beginning of every file, without a last half line. 2. Its parses, a file at a time on every core.
prepare() { # kind
    mkdir -p "$OUT/text/$1" "$OUT/parsed/$1"
    for file in "$DATA/corpus/$1"/*.txt.xz; do
        name=$(basename "$file" .txt.xz)
        [ -e "$OUT/text/$1/$name.txt" ] && continue
        if [ "$BYTES" = 0 ]; then xz -dc "$file"; else xz -dc "$file" 2>/dev/null | head -c "$BYTES" | sed '$d'; fi \
            >"$OUT/text/$1/$name.part"
        mv "$OUT/text/$1/$name.part" "$OUT/text/$1/$name.txt"
    done
    export OUT KIND="$1"
    for file in "$OUT/text/$1"/*.txt; do basename "$file" .txt; done | xargs -P "$CORES" -I {} sh -c '
        target="$OUT/parsed/$KIND/{}.conllu.gz"
        [ -e "$target" ] || { vecdcs parse "$OUT/text/$KIND/{}.txt" | gzip -1 >"$target.part" && mv "$target.part" "$target"; }'
}

# 3. Forests, cut in two by sentence: models learn from `train`, `evaluate execution` asks about `hidden`.
forest() { # kind, name, options
    vecdcs build "$OUT/parsed/$1" -o "$OUT/forests/$2" $3
    [ -e "$OUT/forests/$2-split" ] || vecdcs split "$OUT/forests/$2" -o "$OUT/forests/$2-split"
}

# 4. Models; a finished one is left alone, a begun one goes on.
model() { # forest, name, epochs, options
    [ -e "$OUT/models/$2/manifest.json" ] && [ ! -e "$OUT/models/$2.training" ] && return
    say "train $2"
    vecdcs train "$1" -o "$OUT/models/$2" --dim "$DIM" --epochs "$3" $4
}

say "text and parses"
prepare general
prepare novels
say "forests"
forest general general ""
forest general general-ud --ud
forest novels novels ""
forest novels novels-ud --ud
mkdir -p "$OUT/models"
for kind in general novels; do
    if [ $kind = general ]; then passes=$GENERAL; else passes=$NOVELS; fi
    model "$OUT/forests/$kind-split/train" $kind-full $passes ""
    model "$OUT/forests/$kind-split/train" $kind-no-matrix $passes "--variant no-matrix"
    model "$OUT/forests/$kind-split/train" $kind-no-inverse $passes "--recipe paper --variant no-inverse"
    model "$OUT/forests/$kind-split/train" $kind-paper $passes "--recipe paper"
    model "$OUT/forests/$kind-ud-split/train" $kind-ud $passes "--variant ud"
done

# 5. Tables. Skip-gram by gensim (pip install 'vecdcs[baselines]') and a vectors file are rows of their own.
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
