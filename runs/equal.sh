#!/bin/sh
# The default recipe on as much text as the authors' program was measured on: files of 6.5 million words of Wikipedia,
# 18 million paths, d = 100, one pass. Killed at any point, the same command goes on where it stopped.
#   sh runs/equal.sh
# From the environment: FILES, each for a forest of its own, and SEEDS; DATA, a folder with corpus/general and eval; OUT,
# where forests and models go; RESULTS, where the table goes.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/vecdcs ] && PATH=$PWD/.venv/bin:$PATH

FILES=${FILES:-wp_lowid_2015_00 wp_lowid_2015_01 wp_good_featured_00 simplewiki_00} SEEDS=${SEEDS:-1 2 3}
DATA=${DATA:-../shared/data}
OUT=${OUT:-build/equal}
RESULTS=${RESULTS:-results/equal}

for file in $FILES; do
    forest=$OUT/$file/forest
    [ -e "$forest/manifest.json" ] || vecdcs build "$DATA/corpus/general/$file.txt.xz" -o "$forest"
    for seed in $SEEDS; do
        made=$OUT/$file/seed-$seed
        [ -e "$made/manifest.json" ] && [ ! -e "$made.training" ] ||
            vecdcs train "$forest" -o "$made" --dim 100 --seed "$seed"
        set -- "$@" --model "$file, seed $seed=$made"
    done
done
vecdcs evaluate all --data "$DATA/eval" -o "$RESULTS" --task phrase-similarity --task preference "$@"
