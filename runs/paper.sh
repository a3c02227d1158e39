#!/bin/sh
# The paper's experiments from raw text to tables. Killed at any point, the same command goes on where it stopped.
#   runs/paper.sh SIZE=small|base|full [NAME=VALUE ...]
# Names, which may also stand in the environment: KINDS, general, novels or both; DATA, a folder with corpus/general,
# corpus/novels (.txt.xz) and eval; OUT, where models go; FORESTS, where forests go; RESULTS, where tables go; VECTORS, a
# word2vec or GloVe text file for a row of its own; and every number of the table below.
set -eu
for setting in "$@"; do
    case $setting in
        [A-Za-z]*=*) export "$setting" ;;
        *) echo "$setting: expected NAME=VALUE, as in SIZE=full" >&2; exit 2 ;;
    esac
done
cd "$(dirname "$0")/.."
[ -x .venv/bin/vecdcs ] && PATH=$PWD/.venv/bin:$PATH

SIZE=${SIZE:-small}
DATA=${DATA:-../shared/data}
OUT=${OUT:-build/paper/$SIZE}
FORESTS=${FORESTS:-$OUT/forests}
RESULTS=${RESULTS:-results/$SIZE}
four="full no-matrix no-inverse ud"
case $SIZE in # bytes of text from each file; general text: dimension, passes, rate, rate without matrices; novels; nodes
    small) set -- 250000 50 2 0.1 0.1 50 4 0.1 1000 && variants="$four paper" ;;
    base) set -- 1500000 100 2 0.1 0.1 100 4 0.1 1000 && variants="$four paper" ;;
    full) set -- 0 240 2 0.03 0.03 200 4 0.03 3000 && variants="$four joined" ;;
    *) echo "SIZE=$SIZE: expected small, base or full" >&2; exit 2 ;;
esac
KINDS=${KINDS:-general novels}
BYTES=${BYTES:-$1} DIM=${DIM:-$2} GENERAL=${GENERAL:-$3} RATE=${RATE:-$4} PLAIN_RATE=${PLAIN_RATE:-$5}
NOVELS_DIM=${NOVELS_DIM:-$6} NOVELS=${NOVELS:-$7} NOVELS_RATE=${NOVELS_RATE:-$8} NODES=${NODES:-$9} VARIANTS=${VARIANTS:-$variants}
mkdir -p "$OUT/models"

step() { # name, command …: what it costs is noted in costs.jsonl
    echo "== $1" >&2
    python3 runs/cost.py "$OUT/costs.jsonl" "$@"
}

# 1. Text: all of it as it is, or the whole lines at the beginning of every file.
text() { # kind; prints the folder
    if [ "$BYTES" = 0 ]; then
        echo "$DATA/corpus/$1"
        return
    fi
    mkdir -p "$OUT/text/$1"
    for file in "$DATA/corpus/$1"/*.txt.xz; do
        target=$OUT/text/$1/$(basename "$file" .xz)
        [ -e "$target" ] && continue
        python3 - "$file" "$BYTES" >"$target.part" <<'PYTHON'
import lzma, sys
text = lzma.open(sys.argv[1]).read(int(sys.argv[2]))
sys.stdout.buffer.write(text[: text.rindex(b"\n") + 1])
PYTHON
        mv "$target.part" "$target"
    done
    echo "$OUT/text/$1"
}

# 2. Forests: the one of the text keeps its parses, of which the vecUD forest is made.
# Both are cut in two by sentence: models learn from `train`, `evaluate execution` asks about `hidden`.
forest() { # name, source, options …
    name=$1 source=$2
    shift 2
    [ -e "$FORESTS/$name/manifest.json" ] || step "build $name" vecdcs build "$source" -o "$FORESTS/$name" "$@"
    [ -e "$FORESTS/$name-split" ] ||
        step "split $name" vecdcs split "$FORESTS/$name" -o "$FORESTS/$name-split"
}

# 3. Models; a finished one is left alone, a begun one goes on. Two numbers that make scores probabilities are then
# fitted on the hidden part.
model() { # kind, variant, dimension, passes, first rate
    kind=$1 variant=$2
    made=$OUT/models/$kind-$variant learned=$FORESTS/$kind-split/train how="--dim $3 --epochs $4 --rate $5"
    case $variant in
        ud) learned=$FORESTS/$kind-ud-split/train how="$how --variant ud" ;;
        paper) how="$how --recipe paper" ;;
        *) how="$how --variant $variant" ;;
    esac
    if [ $variant = joined ]; then
        [ -e "$made/manifest.json" ] ||
            step "join $kind" vecdcs join "$OUT/models/$kind-full" "$OUT/models/$kind-no-matrix" -o "$made"
    elif [ ! -e "$made/manifest.json" ] || [ -e "$made.training" ]; then
        step "train $kind-$variant" vecdcs train "$learned" -o "$made" $how
    fi
    case $kind-$variant in
        *-ud | novels-*) return ;; # asked nothing
    esac
    [ -e "$made/calibration.json" ] ||
        step "calibrate $kind-$variant" vecdcs calibrate "$made" --corpus "$FORESTS/$kind-split/hidden" --nodes "$NODES"
}

# 4. Tables. Skip-gram by gensim (pip install 'vecdcs[baselines]') and a vectors file are rows of their own.
skipgram() { # kind, dimension
    python3 -c "import gensim" 2>/dev/null || return 0
    [ -e "$OUT/$1-skip-gram.txt" ] ||
        step "skip-gram $1" python3 runs/skipgram.py "$FORESTS/$1-split/train" "$OUT/$1-skip-gram.txt" "$2"
}
tables() { # kind, options …
    kind=$1
    shift
    for variant in $VARIANTS; do
        case $variant in
            full) row="vecDCS" ;;
            paper) row="vecDCS (paper's recipe)" ;;
            ud) row="vecUD" ;;
            joined) row="vecDCS joined with no matrix" ;;
            *) row=$(echo "$variant" | tr - " ") ;;
        esac
        set -- "$@" --model "$row=$OUT/models/$kind-$variant"
    done
    [ -n "${VECTORS:-}" ] && set -- "$@" --vectors "GloVe=$VECTORS"
    [ -e "$OUT/$kind-skip-gram.txt" ] && set -- "$@" --vectors "skip-gram=$OUT/$kind-skip-gram.txt"
    step "tables of $kind" vecdcs evaluate all --data "$DATA/eval" --cache "$OUT/cache" -o "$RESULTS/$kind" "$@"
}

models() { # kind, dimension, passes, first rate, the same without matrices
    for one in $VARIANTS; do
        case $one in no-matrix) rate=$5 ;; *) rate=$4 ;; esac
        model "$1" "$one" "$2" "$3" "$rate"
    done
    skipgram "$1" "$2"
}

for chosen in $KINDS; do
    forest "$chosen" "$(text "$chosen")" --keep-parses
    case " $VARIANTS " in *" ud "*) forest "$chosen-ud" "$FORESTS/$chosen/parses" --ud ;; esac
    case $chosen in
        general)
            models general "$DIM" "$GENERAL" "$RATE" "$PLAIN_RATE"
            tables general --forest "$FORESTS/general-split" --task phrase-similarity --task relations \
                --task preference --task execution --task intrinsic
            ;;
        novels)
            models novels "$NOVELS_DIM" "$NOVELS" "$NOVELS_RATE" "$NOVELS_RATE"
            tables novels --pmi "$FORESTS/novels-split/train" --task completion
            ;;
    esac
done
