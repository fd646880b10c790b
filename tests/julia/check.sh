#!/usr/bin/env bash
# Julia loads what we write: `make check-julia`. PYTHON is the interpreter to write with.
set -euo pipefail
here=$(dirname "$0")
skip() { echo "check-julia did not run: $1"; exit 0; }
command -v julia >/dev/null || skip 'julia is missing'
julia --startup-file=no -e 'import BSON' 2>/dev/null || skip 'julia has no BSON.jl, which `import Pkg; Pkg.add("BSON")` installs'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" "$here/write.py" "$folder"
julia --startup-file=no "$here/check.jl" "$folder"
