"""Clients of Firestore's REST face, as whom one likes: the emulator takes unsigned tokens."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

RULES = Path(__file__).resolve().parent.parent.parent / "firestore.rules"
ALLOWED, DENIED = 200, 403


def _part(data: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()


def unsigned_token(project: str, uid: str, claims: Mapping[str, Any]) -> str:
    now = int(time.time())
    payload = {
        "iss": f"https://securetoken.google.com/{project}",
        "aud": project,
        "sub": uid,
        "user_id": uid,
        "iat": now,
        "exp": now + 3600,
        "auth_time": now,
        "firebase": {"sign_in_provider": "google.com", "identities": {}},
        **claims,
    }
    return f"{_part({'alg': 'none', 'typ': 'JWT'})}.{_part(payload)}."


def value(data: object) -> dict[str, Any]:
    """JSON as Firestore's REST writes it; what the tests store has no lists."""
    match data:
        case None:
            return {"nullValue": None}
        case bool():
            return {"booleanValue": data}
        case int():
            return {"integerValue": str(data)}
        case dict():
            return {"mapValue": {"fields": fields(data)}}
        case _:
            return {"stringValue": str(data)}


def fields(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value(item) for key, item in data.items()}


class Database:
    """One project of the emulator, under Pidjin's rules."""

    def __init__(self, host: str, project: str) -> None:
        self.project = project
        self._emulator = f"http://{host}/emulator/v1/projects/{project}"
        self._documents = f"/v1/projects/{project}/databases/(default)/documents"
        self._http = httpx.Client(base_url=f"http://{host}", timeout=60, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def load(self, source: str) -> list[dict[str, Any]]:
        """Puts rules in force; gives what the emulator dislikes about them."""
        file = {"name": "firestore.rules", "content": source}
        answer = self._http.put(
            f"{self._emulator}:securityRules", json={"rules": {"files": [file]}}
        )
        told = answer.json()
        if answer.status_code != ALLOWED:
            return [told["error"]]
        return list(told.get("issues", []))

    def coverage(self) -> dict[str, Any]:
        told: dict[str, Any] = self._http.get(f"{self._emulator}:ruleCoverage").json()
        return told

    def request(self, method: str, path: str, headers: dict[str, str], body: object = None) -> int:
        url = f"{self._documents}{path}"
        return self._http.request(method, url, headers=headers, json=body).status_code

    def owner(self) -> Client:
        """The server: rules do not bind it."""
        return Client(self, {"Authorization": "Bearer owner"})

    def anonymous(self) -> Client:
        return Client(self, {})

    def person(self, uid: str, **claims: Any) -> Client:
        token = unsigned_token(self.project, uid, claims)
        return Client(self, {"Authorization": f"Bearer {token}"})


class Client:
    """Each call gives the HTTP status."""

    def __init__(self, database: Database, headers: dict[str, str]) -> None:
        self._database = database
        self._headers = headers

    def get(self, path: str) -> int:
        return self._ask("GET", f"/{path}")

    def list(self, collection: str, **where: Any) -> int:
        asked: dict[str, Any] = {"from": [{"collectionId": collection}]}
        for field, wanted in where.items():
            asked["where"] = {
                "fieldFilter": {
                    "field": {"fieldPath": field},
                    "op": "EQUAL",
                    "value": value(wanted),
                }
            }
        return self._ask("POST", ":runQuery", {"structuredQuery": asked})

    def create(self, path: str, data: Mapping[str, Any]) -> int:
        collection, _, doc_id = path.rpartition("/")
        return self._ask("POST", f"/{collection}?documentId={doc_id}", {"fields": fields(data)})

    def update(self, path: str, data: Mapping[str, Any]) -> int:
        url = f"/{path}?currentDocument.exists=true"
        return self._ask("PATCH", url, {"fields": fields(data)})

    def delete(self, path: str) -> int:
        return self._ask("DELETE", f"/{path}")

    def _ask(self, method: str, path: str, body: object = None) -> int:
        return self._database.request(method, path, self._headers, body)
