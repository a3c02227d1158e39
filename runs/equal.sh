#!/bin/sh
# The default recipe on the amount of text and paths that the authors' program was measured on: one file of Wikipedia
# (6.5 million words, 18.4 million paths), d = 100, one pass, five seeds. Killed at any point, the same command goes on.
#   FILE=wp_lowid_2015_00 sh runs/equal.sh
# Also from the environment: DATA, a folder with corpus/general and eval; OUT, where the forest and models go; SEEDS;
# RESULTS, where the table goes.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/vecdcs ] && PATH=$PWD/.venv/bin:$PATH

FILE=${FILE:-wp_lowid_2015_00} SEEDS=${SEEDS:-1 2 3 4 5}
DATA=${DATA:-../shared/data}
OUT=${OUT:-build/equal/$FILE}
RESULTS=${RESULTS:-results/equal/$FILE}

[ -e "$OUT/forest/manifest.json" ] || vecdcs build "$DATA/corpus/general/$FILE.txt.xz" -o "$OUT/forest"
for seed in $SEEDS; do
    made=$OUT/seed-$seed
    [ -e "$made/manifest.json" ] && [ ! -e "$made.training" ] ||
        vecdcs train "$OUT/forest" -o "$made" --dim 100 --seed "$seed"
    set -- "$@" --model "seed $seed=$made"
done
vecdcs evaluate all --data "$DATA/eval" -o "$RESULTS" --task phrase-similarity --task preference "$@"
