#!/bin/sh
# The main job on real input, as you would type it. Each run gets a folder of its own; nothing earlier is touched.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
id=2026-11-cpu-ladder
lab="$here/build/demo/$(date -u +%Y%m%dT%H%M%SZ)"
mkdir -p "$lab" && cd "$lab"

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

git init --quiet .
git config user.name "${GIT_AUTHOR_NAME:-$(git config user.name || echo demo)}"
git config user.email "${GIT_AUTHOR_EMAIL:-$(git config user.email || echo demo@example.org)}"
git config commit.gpgsign false

step ledger init
step ledger draft $id --template cpu-ladder
step ledger check $id
git add -A && git commit --quiet -m "Plan of $id"
step ledger freeze $id --commit
step ledger run $id --nproc 2
step ledger ingest .ledger/runs/$id/*/run.json
step ledger decide $id
git add -A && git commit --quiet -m "Runs and decision of $id"
step ledger status
step ledger render -o pages
step ledger archive $id -o $id.tar
step ledger verify $id
step ledger verify $id.tar

printf '\n\033[1mDone.\033[0m Everything of this demo lies in %s\n' "$lab"
printf '  dossier  %s\n' "$lab/pages/index.html"
printf '  archive  %s\n' "$lab/$id.tar"
printf '  sha256   %s\n' "$(sha256sum $id.tar | cut -d' ' -f1)"
