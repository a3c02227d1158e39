#!/usr/bin/env bash
# Train the shipped English parser, from the treebanks and plain text to package data. Seeded; run again, it goes on
# where it stopped. Needs `pip install -e .[parser-training]`. About half a CPU hour on one core.
#
#   runs/parser.sh [SHARED] [WORK] [OUT]
set -euo pipefail
cd "$(dirname "$0")/.."
shared=${1:-../shared} work=${2:-build/parser} out=${3:-vecdcs/text/english}
treebanks=$shared/data/treebanks
export OMP_NUM_THREADS=1
mkdir -p "$work" "$out"

[ -e "$work/vectors.npz" ] || python -m runs.parser.vectors "$shared/data/corpus" "$work/vectors.npz"
python -m runs.parser.train "$treebanks" "$work/vectors.npz" "$work/network"
python -m runs.parser.export "$treebanks" "$work/vectors.npz" "$work/network/last.safetensors" "$out"
python -m runs.parser.splitter "$treebanks" "$out/splitter.json"
python benchmarks/parser_accuracy.py --shared "$shared" --part dev --weights "$out" ewt gum
