#!/bin/sh
# One command for a machine with a CUDA GPU: a ladder of four rungs from draft to archive, in under five minutes.
# The CUDA paths of the harness had not run on a GPU when this was written; what it leaves is the record of the first.
# Status 5 where there is no GPU to run on. `sh examples/gpu.sh --look` only looks, and needs no torch: 0 where torch
# sees a GPU, or where torch is absent and the machine shows one.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
id=2026-11-gpu-ladder

nothing() { # what was found, what was expected, what to do
  echo "No CUDA GPU to run on: nothing was run, and the harness's CUDA paths remain untried here." >&2
  echo "  found: $1" >&2
  echo "  expected: $2" >&2
  echo "  what to do: $3" >&2
  echo "  status: 5 from this script; make, where it was started by it, ends with 2 as after any failure" >&2
  exit 5
}

# Asked without importing torch, so that nothing of its size is installed in vain.
a_gpu_shows() {
  if command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then return 0; fi
  for node in /dev/nvidia[0-9]* /dev/dxg; do [ -e "$node" ] && return 0; done
  return 1
}

python=$(command -v python || command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)'; then
  a_gpu_shows || nothing "no torch, and no sign of an NVIDIA GPU" "a GPU in nvidia-smi -L, or /dev/nvidia0" \
    "run this on a machine with an NVIDIA GPU; make demo needs none"
  [ "${1:-}" = --look ] && exit 0
  nothing "a GPU, but no torch for ${python:-a python that is not on PATH}" "python -c 'import torch' works" \
    "make bench-gpu, which installs it; or install the extra bench into this python"
fi

ask='
import sys
try:
    import torch
    torch.cuda.init()
    print(torch.cuda.get_device_name(0))
except BaseException as fault:
    lines = f"{type(fault).__name__}: {fault}".strip().splitlines()
    print(lines[0] if len(lines) == 1 else f"{lines[0]} ... {lines[-1]}")
    sys.exit(1)
'
last() { printf '%s\n' "$said" | tail -n 1; }
said=$("$python" -c "$ask" 2>&1) || nothing "torch says: $(last)" \
  "python -c 'import torch; torch.cuda.init()' works" \
  "run this on a machine with an NVIDIA GPU and a CUDA build of torch; make demo needs none"
echo "GPU: $(last)"
if [ "${1:-}" = --look ]; then exit 0; fi

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
