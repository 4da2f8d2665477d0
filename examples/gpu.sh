#!/bin/sh
# One command for a machine with a CUDA GPU: a ladder of four rungs from draft to archive, in under five minutes.
# The CUDA paths of the harness had not run on a GPU when this was written; what it leaves is the record of the first.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
id=2026-11-gpu-ladder

if ! found=$(python -c 'import torch; assert torch.cuda.is_available(); print(torch.cuda.get_device_name(0))' 2>/dev/null); then
  echo "No CUDA GPU that torch can use: nothing was run, and the harness's CUDA paths remain untried here." >&2
  echo "  expected: python -c 'import torch; print(torch.cuda.is_available())' prints True" >&2
  echo "  what to do: run this on a machine with an NVIDIA GPU and a CUDA build of torch; make demo needs none" >&2
  exit 5
fi
echo "GPU: $found"

lab="$here/build/gpu/$(date -u +%Y%m%dT%H%M%SZ)"
mkdir -p "$lab" && cd "$lab"

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

git init --quiet .
git config user.name "${GIT_AUTHOR_NAME:-$(git config user.name || echo gpu)}"
git config user.email "${GIT_AUTHOR_EMAIL:-$(git config user.email || echo gpu@example.org)}"
git config commit.gpgsign false

began=$(date +%s)
step ledger init
step ledger draft $id --template gpu-ladder
step ledger check $id
step ledger freeze $id --commit
step ledger run $id --nproc 1
step ledger ingest .ledger/runs/$id/*/run.json
step ledger decide $id
git add -A && git commit --quiet -m "Runs and decision of $id"
step ledger status
step ledger render -o pages
step ledger archive $id -o $id.tar
step ledger verify $id
step ledger verify $id.tar

printf '\n\033[1mDone in %s s.\033[0m Everything of this run lies in %s\n' "$(($(date +%s) - began))" "$lab"
printf '  dossier  %s\n' "$lab/pages/index.html"
printf '  archive  %s\n' "$lab/$id.tar"
printf '  sha256   %s\n' "$(sha256sum $id.tar | cut -d' ' -f1)"
