#!/bin/bash
# Lisp stores values, we load and write them, Lisp restores them: the same, in both ways of storing?
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "check-lisp did not run: $1"; exit 0; }
command -v sbcl > /dev/null || skip "there is no sbcl (Debian has it, and cl-flexi-streams, cl-babel, cl-alexandria)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run() { sbcl --noinform --no-sysinit --no-userinit --disable-debugger --eval "(setf sb-impl::*default-external-format* :utf-8)" --eval "(setf sb-ext:*posix-argv* (list \"sbcl\" \"$folder\" \"$1\"))" --load "$here/check.lisp" --quit; }
library='(let ((library (sb-ext:posix-getenv "CL_BINARY_STORE"))) (when library (push (truename (concatenate (quote string) library "/")) asdf:*central-registry*)))'
sbcl --noinform --no-userinit --disable-debugger --eval '(require :asdf)' --eval "$library" \
    --eval '(sb-ext:exit :code (if (asdf:find-system :cl-binary-store nil) 0 3))' > /dev/null 2>&1 ||
    skip "SBCL finds no cl-binary-store: say where its source is by CL_BINARY_STORE=folder"
run store
"$PYTHON" -m tests.lisp.again "$folder"
run compare
