#!/bin/sh
# Wheels of every Python in PyPA's musllinux image; run there, from the project's folder, by the workflow.
set -eu
python=/opt/python/cp313-cp313/bin/python
export CARGO_HOME=/root/.cargo PATH="/root/.cargo/bin:$PATH"
command -v cargo || curl --proto '=https' --tlsv1.2 --fail --silent --show-error https://sh.rustup.rs | sh -s -- -y --profile minimal
$python -m venv /tools
/tools/bin/python -m pip install --disable-pip-version-check --upgrade 'pip>=25.1'
/tools/bin/python -m pip install --disable-pip-version-check --group wheels
exec /tools/bin/python -m tests.release.wheels --only wheels
