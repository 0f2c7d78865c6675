#!/usr/bin/env bash
# Deploys what Firestore keeps of the backend's set-up: rules and indexes. Needs the firebase CLI.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --dry-run ]; then dry=1; shift; else dry=; fi
if [ $# -ne 1 ] || [[ ! $1 =~ ^[a-z0-9][a-z0-9.:-]{2,62}$ ]]; then
  echo "usage: scripts/deploy-rules.sh [--dry-run] FIREBASE_PROJECT" >&2
  exit 2
fi

if [ -n "$dry" ]; then
  echo "firestore.rules"
  echo "firestore.indexes.json"
  echo "firebase deploy --only firestore --project $1"
  exit 0
fi
if ! command -v firebase >/dev/null; then
  echo "deploy-rules: the firebase command is not there: npm install -g firebase-tools" >&2
  exit 1
fi
# The CLI wants the files beside its configuration, and the tree has no other use for that.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp firestore.rules firestore.indexes.json "$folder"
printf '{"firestore": {"rules": "firestore.rules", "indexes": "firestore.indexes.json"}}\n' >"$folder/firebase.json"
cd "$folder"
firebase deploy --only firestore --project "$1"
