#!/usr/bin/env bash
# One battery of tests by name; everything is `make test`. --print tells the commands instead.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat >&2 <<'TEXT'
usage: scripts/run-tests.sh [--print] {functions|rules|smoke|app|bridge|scan} [PYTEST_ARGS...]
  functions  all that the other batteries leave: agent, operations, store, commands, scripts
  rules      who may read and do what
  smoke      the real process, over HTTP and WebRTC
  app        the client's own tests, whole lessons, real browsers
  bridge     sound, peers, turns, the Live link
  scan       no secrets in the tree
TEXT
  exit 2
}

print=
if [ "${1:-}" = --print ]; then print=1; shift; fi
[ $# -ge 1 ] || usage
battery=$1; shift

bin=$PWD/.venv/bin
python=$bin/python
[ -x "$python" ] || python=python3

run() {
  if [ -n "$print" ]; then echo "$*"; else "$@"; fi
}
pytests() { run "$python" -m pytest -q "$@"; }
node() { run env PATH="$bin:$PATH" npm --prefix client run -s "$1"; }

rules=(tests/rules tests/server/test_access.py)
smoke=(tests/smoke)
app=(tests/client tests/lesson tests/browser tests/ecosystem tests/firebase_client)
bridge=(tests/media tests/bench)

case $battery in
  functions)  # whatever no other battery takes, so that nothing is left out
    pytests tests "${rules[@]/#/--ignore=}" "${smoke[@]/#/--ignore=}" "${app[@]/#/--ignore=}" \
      "${bridge[@]/#/--ignore=}" "$@" ;;
  rules) pytests "${rules[@]}" "$@" ;;
  smoke) pytests "${smoke[@]}" "$@" ;;
  app)
    if [ -n "$print" ] || PATH="$bin:$PATH" command -v npm >/dev/null; then
      node check
      node test
    else
      echo "run-tests: npm is not there, so the client's own tests are left out" >&2
    fi
    pytests "${app[@]}" "$@" ;;
  bridge) pytests "${bridge[@]}" "$@" ;;
  scan) run "$python" scripts/secret_scan.py "$@" ;;
  *) echo "run-tests: there is no battery $battery" >&2; usage ;;
esac
