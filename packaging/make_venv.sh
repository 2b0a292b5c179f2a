#!/bin/sh
# Create the virtual environment $1 with the newest Python that Slipstream supports.
set -eu
[ -x "$1/bin/pip" ] && exit 0

found=
for python in python3.13 python3.12 python3.11 python3; do
    "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null || continue
    found=$python
    "$python" -c 'import ensurepip, venv' 2>/dev/null || continue
    echo "Creating $1 with $("$python" --version) ..."
    exec "$python" -m venv "$1"
done

if [ -n "$found" ]; then
    echo "Slipstream needs Python's venv module; install it (Debian, Ubuntu: apt install $found-venv)." >&2
else
    echo "Slipstream needs Python 3.11, 3.12 or 3.13; install one (Debian 12: apt install python3-venv)." >&2
fi
exit 1
