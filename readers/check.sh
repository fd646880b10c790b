#!/usr/bin/env bash
# Builds each reader and runs it on tests/vectors. Skips, and says why, where what a reader needs is not there.
set -euo pipefail
cd "$(dirname "$0")/typescript"

skip() {
    echo "skipped: $1"
    exit 0
}
command -v node >/dev/null || skip "the TypeScript reader needs Node 20 or newer, and there is no node"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || skip "the TypeScript reader needs Node 20 or newer, and this is $(node --version)"
command -v npm >/dev/null || skip "the TypeScript compiler is installed by npm, which is not there"
# The compiler that package-lock.json names; nothing else is installed, and nothing at run time.
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error
npm run --silent check
