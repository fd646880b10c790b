#!/usr/bin/env bash
# Julia loads what we write, and we what Julia writes: `make check-julia`.
#
# PYTHON   the interpreter to write with.
# BSON_JL  a folder with the sources of BSON.jl 0.3.9; else they are cloned.
# VALUES   a folder with more expressions, values.jl and values2.jl, if it is there.
#
# Where no Julia with BSON.jl is installed, Debian's is put into a folder, `.julia`, and run there: that takes root, Linux and the network.
# It sees this folder, the files that are exchanged, and nothing else of the machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CACHE:-$here/../../.julia}
skip() { echo "check-julia did not run: $1"; exit 0; }

julia=()
if ! command -v julia >/dev/null; then
  why='julia is missing'
elif ! julia --startup-file=no -e 'import BSON' 2>/dev/null; then
  why='julia has no BSON.jl, which `import Pkg; Pkg.add("BSON")` installs'
else
  why=
  # Much of the time goes by while Julia compiles what is called once.
  julia=(julia --startup-file=no -O0)
fi

# Debian's Julia 1.5.3 in a folder: $1/usr/bin/julia.
install_julia() {
  local root=$1 mirror
  if ! command -v debootstrap >/dev/null; then
    command -v apt-get >/dev/null || skip "$why, and debootstrap, which sets one up, is no package here"
    echo 'debootstrap is installed'
    apt-get install --yes debootstrap >"$cache/log" 2>&1 || skip "$why, and apt-get could not install debootstrap, which sets one up (see $cache/log)"
  fi
  echo "Julia is put into $root, which takes some minutes"
  # The suite moves to the archive one day.
  for mirror in http://deb.debian.org/debian http://archive.debian.org/debian; do
    rm -rf "$root.part"
    if debootstrap --variant=minbase --include=julia bullseye "$root.part" "$mirror" >"$cache/log" 2>&1; then
      mv "$root.part" "$root"
      return
    fi
  done
  skip "$why, and debootstrap could not fetch it (see $cache/log)"
}

if [ -n "$why" ]; then
  [ "$EUID" = 0 ] || skip "$why, and only root can set one up"
  for tool in unshare mount chroot mkdir mv; do
    command -v "$tool" >/dev/null || skip "$why, and \`$tool\`, which runs one in a folder, too"
  done
  mkdir -p "$cache"
  cache=$(cd "$cache" && pwd)
  package=${BSON_JL:-$cache/BSON.jl}
  if [ ! -e "$package/src/BSON.jl" ]; then
    [ -z "${BSON_JL:-}" ] || skip "there is no src/BSON.jl in BSON_JL=$BSON_JL"
    GIT_TERMINAL_PROMPT=0 timeout 60 git clone --quiet --depth 1 --branch v0.3.9 https://github.com/JuliaIO/BSON.jl "$package" 2>"$cache/log" ||
      skip "$why, and BSON.jl could not be cloned: set BSON_JL to a folder with its sources"
  fi
  [ -x "$cache/root/usr/bin/julia" ] || install_julia "$cache/root"
  julia=(in_folder)
fi

# Julia in its folder, where /proc and the folders that it needs are mounted for itself alone.
in_folder() {
  unshare --mount bash -c '
    set -e
    root=$1 package=$2 here=$3 folder=$4 values=$5
    shift 5
    mkdir -p "$root$here" "$root$folder" "$root/packages/BSON" "$root/depot"
    mount -t proc proc "$root/proc"
    mount --bind "$package" "$root/packages/BSON"
    mount --bind "$here" "$root$here"
    mount --bind "$folder" "$root$folder"
    if [ -n "$values" ]; then mkdir -p "$root$values"; mount --bind "$values" "$root$values"; fi
    export JULIA_LOAD_PATH=@:@stdlib:/packages JULIA_DEPOT_PATH=/depot HOME=/root LANG=C.UTF-8
    exec chroot "$root" /usr/bin/julia --startup-file=no -O0 "$@"
  ' - "$cache/root" "$package" "$here" "$folder" "$values" "$@"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"; if [ -d "$cache/root$folder" ]; then rmdir "$cache/root$folder"; fi' EXIT
values=${VALUES:-}
[ -e "$values/values.jl" ] || values=
python=${PYTHON:-python3}

status=0
"$python" "$here/write.py" "$folder"
"${julia[@]}" "$here/check.jl" "$folder" || status=1
"${julia[@]}" "$here/trip.jl" write "$folder" ${values:+"$values"}
"$python" "$here/again.py" "$folder"
"${julia[@]}" "$here/trip.jl" compare "$folder" ${values:+"$values"} || status=1
exit $status
