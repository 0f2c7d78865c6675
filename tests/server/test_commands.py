"""The operator's commands on one data directory, in process: what they store, print and refuse."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from server.__main__ import main
from server.clock import SystemClock
from server.commands.console import table
from server.identity.links import OneTimeLinks
from server.roles import Role
from server.store.firestore import FirestoreStore
from server.store.records import new_user, user_path
from server.store.sqlite import SqliteStore
from tests.emulator import new_project

Say = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GEMINI_API_KEY", "GEMINI_API_BASE", "PIDJIN_PORT", "PIDJIN_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIDJIN_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
async def store(data: Path) -> AsyncIterator[SqliteStore]:
    """The same file, opened by another process so to speak."""
    opened = SqliteStore(data / "pidjin.sqlite3")
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
def say(data: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs `pidjin <words>`: exit code, stdout, stderr."""

    async def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = await asyncio.to_thread(main, words)
        return (code, *capsys.readouterr())

    return run


async def stored(store: SqliteStore) -> dict[str, object]:
    doc = await store.get("config/app")
    return doc.data if doc else {}


async def add_user(store: SqliteStore, uid: str, role: Role, email: str, second: int = 0) -> None:
    now = datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)
    user = new_user(email=email, display_name=uid.title(), role=role.value, now=now)
    await store.create(user_path(uid), user)


@pytest.mark.parametrize(
    "words",
    [
        ("users", "list"),
        ("users", "approve", "uid-1"),
        ("users", "link", "ada@example.org", "--url", "http://localhost:8080"),
        ("link", "--url", "http://localhost:8080"),
        ("config", "get"),
        ("config", "unset", "liveModel"),
    ],
    ids=" ".join,
)
async def test_where_there_is_no_pidjin_none_is_made(
    say: Say, data: Path, words: tuple[str, ...]
) -> None:
    code, out, err = await say(*words)
    assert (code, out) == (1, "")
    assert f"there is no Pidjin in {data}" in err
    assert "PIDJIN_DATA_DIR" in err
    assert not data.exists()


async def test_a_value_can_be_set_before_the_first_start(say: Say, data: Path) -> None:
    code, out, _ = await say("config", "set", "dailyGeminiCallCap", "200")
    assert code == 0
    assert f"begins a new Pidjin in {data}" in out
    code, out, _ = await say("config", "set", "dailyGeminiCallCap", "201")
    assert "begins" not in out
    code, out, _ = await say("config", "get", "dailyGeminiCallCap")
    assert (code, out) == (0, "201\n")


@pytest.mark.req("CARD-15")
@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("liveNativeReply", "false", False),
        ("dailyGeminiCallCap", "5", 5),
        ("liveModel", "gemini-3.8-live-extended-thinking", "gemini-3.8-live-extended-thinking"),
        ("liveVoiceName", "7", "7"),
        ("adminEmail", "null", None),
    ],
)
async def test_a_value_is_stored_under_its_own_type(
    say: Say, store: SqliteStore, key: str, text: str, value: object
) -> None:
    code, out, _ = await say("config", "set", key, text)
    assert code == 0
    assert "within 2 s" in out
    assert await stored(store) == {key: value}
    _, shown, _ = await say("config", "get", key, "--json")
    assert json.loads(shown) == value


@pytest.mark.req("DATA-26")
@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("liveModle", "x", "there is no liveModle; do you mean liveModel?"),
        ("contextTiers.depe.agendaMax", "3", "there is no contextTiers.depe; do you mean"),
        ("dailyGeminiCallCap", "-1", "dailyGeminiCallCap: Input should be greater"),
        ("liveNativeReply", "maybe", "liveNativeReply: Input should be a valid boolean"),
        ("liveThinkingLevel", "none", "'low', 'medium' or 'high', not 'none'"),
        ("contextTiers", "3", "contextTiers: Input should be"),
        ("liveModel.x", "3", "liveModel: Input should be a valid string"),
        ("newsThemes", '["mine"]', "newsThemes comes with the release"),
    ],
)
async def test_what_would_have_no_effect_is_refused(
    say: Say, store: SqliteStore, key: str, text: str, told: str
) -> None:
    code, out, err = await say("config", "set", key, text)
    assert code == 1
    assert told in err
    assert out == ""
    assert await stored(store) == {}


async def test_nested_keys_lie_over_their_neighbours_and_go_again(
    say: Say, store: SqliteStore
) -> None:
    await say("config", "set", "contextTiers.deep.agendaMax", "15")
    await say("config", "set", "contextTiers.deep.outlineMax", "15")
    assert await stored(store) == {"contextTiers": {"deep": {"agendaMax": 15, "outlineMax": 15}}}
    _, out, _ = await say("config", "get")
    lines = out.splitlines()
    assert "contextTiers.deep.agendaMax = 15" in lines
    assert "contextTiers.deep.digestChars = 6000  (default)" in lines
    _, out, _ = await say("config", "unset", "contextTiers.deep.agendaMax")
    assert out == "contextTiers.deep.agendaMax = 20  (default)\n"
    await say("config", "unset", "contextTiers.deep.outlineMax")
    assert await stored(store) == {}
    code, out, _ = await say("config", "unset", "liveModel")
    assert (code, out) == (0, "liveModel was not set.\n")


async def test_junk_in_the_store_is_shown_and_can_be_taken_out(
    say: Say, store: SqliteStore
) -> None:
    await store.set("config/app", {"old": 1, "liveModel": 7})
    code, out, _ = await say("config", "get")
    assert code == 0
    assert "! there is no old (stored, and without effect)" in out
    assert "! liveModel: Input should be a valid string, not 7" in out
    assert (await say("config", "unset", "old"))[0] == 0
    assert await stored(store) == {"liveModel": 7}


@pytest.mark.parametrize("verb", ["get", "unset"])
async def test_an_unknown_key_is_told(say: Say, store: SqliteStore, verb: str) -> None:
    code, _, err = await say("config", verb, "liveModle")
    assert code == 1
    assert "do you mean liveModel?" in err


@pytest.mark.req("AUTH-23", "API-39")
@pytest.mark.parametrize(
    ("verb", "role"), [("approve", "approved"), ("reject", "rejected"), ("revoke", "rejected")]
)
@pytest.mark.parametrize("name", ["ada", "Ada@Example.org"])
async def test_decisions_are_stored_with_their_audit(
    say: Say, store: SqliteStore, verb: str, role: str, name: str
) -> None:
    await add_user(store, "ada", Role.PENDING, "ada@example.org")
    code, out, _ = await say("users", verb, name)
    assert code == 0
    assert out == f"ada ada@example.org is {role} now.\n"
    doc = await store.get("users/ada")
    assert doc is not None
    assert doc.data["role"] == role
    assert doc.data["approvedBy"] == "operator"
    assert "approvedAt" in doc.data


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("approve", "eve"), "no user with the uid eve"),
        (("approve", "a/b"), "no user with the uid a/b"),
        (("approve", "eve@example.org"), "no user with the e-mail"),
        (("approve", "same@example.org"), "2 users gave the e-mail same@example.org"),
        (("approve", "root"), "is an admin"),
        (("revoke", "root"), "the only admin"),
    ],
)
async def test_decisions_that_cannot_be_meant_are_refused(
    say: Say, store: SqliteStore, words: tuple[str, ...], told: str
) -> None:
    await add_user(store, "ada", Role.PENDING, "same@example.org")
    await add_user(store, "bob", Role.PENDING, "Same@example.org")
    await add_user(store, "root", Role.ADMIN, "root@example.org")
    before = [doc.data for doc in await store.query("users")]
    code, _, err = await say("users", *words)
    assert code == 1
    assert told in err
    assert [doc.data for doc in await store.query("users")] == before


@pytest.mark.parametrize("noun", ["users", "config"])
async def test_a_noun_without_a_verb_says_what_there_is(say: Say, data: Path, noun: str) -> None:
    code, out, err = await say(noun)
    assert (code, err) == (0, "")
    for verb in {"users": ("list", "approve", "revoke"), "config": ("get", "set", "unset")}[noun]:
        assert f"    {verb} " in out
    assert not data.exists()


async def test_a_second_admin_can_be_revoked(say: Say, store: SqliteStore) -> None:
    await add_user(store, "root", Role.ADMIN, "root@example.org")
    await add_user(store, "other", Role.ADMIN, "other@example.org")
    assert (await say("users", "revoke", "other"))[0] == 0


async def test_users_are_listed_newest_first_and_by_role(say: Say, store: SqliteStore) -> None:
    for second in range(3):
        role = Role.APPROVED if second else Role.PENDING
        await add_user(store, f"u{second}", role, f"u{second}@x.org", second)
    await store.update("users/u1", {"displayName": "ev\x1b[2Jil\n"})
    _, out, _ = await say("users", "list")
    assert [line.split()[0] for line in out.splitlines()] == ["UID", "u2", "u1", "u0"]
    assert "ev?[2Jil?" in out
    _, out, _ = await say("users", "list", "--role", "approved", "--json")
    assert [row["uid"] for row in json.loads(out)] == ["u2", "u1"]


async def test_more_users_than_a_page_are_all_listed(
    say: Say, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.commands.users.PAGE", 2)
    for second in range(5):
        await add_user(store, f"u{second}", Role.PENDING, "x@x.org", second)
    _, out, _ = await say("users", "list", "--json")
    assert len(json.loads(out)) == 5


@pytest.mark.req("AUTH-14")
async def test_a_printed_link_works_once_and_ends_earlier_ones(
    say: Say, store: SqliteStore
) -> None:
    links = OneTimeLinks(store, SystemClock())
    codes = []
    for words in ((), ("--url", "https://tutor.example.org/")):
        code, out, _ = await say("link", *words)
        assert code == 0
        codes.append(out.strip())
    assert codes[0].startswith("http://127.0.0.1:8080/web/#/signin/")
    assert codes[1].startswith("https://tutor.example.org/web/#/signin/")
    old, new = (line.rpartition("/")[2] for line in codes)
    with pytest.raises(Exception, match="used already"):
        await links.peek(old)
    assert (await links.redeem(new)).uid == "bootstrap-admin"


async def test_a_link_needs_an_address(
    say: Say, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIDJIN_PORT", "0")
    code, _, err = await say("link")
    assert code == 1
    assert "--url" in err


@pytest.mark.req("CARD-9", "CARD-10")
async def test_commands_work_on_firestore_and_say_where_people_sign_in(
    say: Say, data: Path, firestore_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIDJIN_STORE", "firestore")
    monkeypatch.setenv("PIDJIN_IDENTITY", "firebase")
    monkeypatch.setenv("PIDJIN_FIREBASE_PROJECT", new_project())
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_host)
    there = FirestoreStore(os.environ["PIDJIN_FIREBASE_PROJECT"], emulator_host=firestore_host)
    now = SystemClock().now()
    user = new_user(email="ada@example.org", display_name="Ada", role="pending", now=now)
    await there.create("users/ada", user)
    assert (await say("config", "set", "contextTiers.deep.agendaMax", "15"))[0] == 0
    assert (await say("config", "get", "contextTiers.deep.agendaMax"))[1] == "15\n"
    assert (await say("users", "approve", "ADA@example.org"))[0] == 0
    _, out, _ = await say("users", "list", "--role", "approved", "--json")
    assert [row["uid"] for row in json.loads(out)] == ["ada"]
    code, _, err = await say("link")
    assert code == 1
    assert "PIDJIN_IDENTITY=firebase" in err
    assert not data.exists()
    await there.close()


async def test_mistakes_in_the_settings_are_told_to_commands_too(
    say: Say, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIDJIN_PORT", "x")
    code, _, err = await say("config", "get")
    assert code == 2
    assert err.startswith("pidjin: PIDJIN_PORT")
    assert not data.exists()


async def test_a_store_that_cannot_be_opened_is_told_in_a_sentence(say: Say, data: Path) -> None:
    data.mkdir()
    (data / "pidjin.sqlite3").write_text("damaged " * 200)
    code, _, err = await say("users", "list")
    assert code == 1
    assert len(err.splitlines()) == 1


def test_a_table_is_as_wide_as_its_cells() -> None:
    assert table(("A", "B"), [("long", "x"), ("s", "")]) == "A     B\nlong  x\ns"


@pytest.mark.req("AUTH-2")
async def test_a_link_for_somebody_whose_browser_has_forgotten_them(
    say: Say, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_user(store, "u1", Role.APPROVED, "ada@example.org")
    code, out, _ = await say("users", "link", "ada@example.org", "--url", "https://tutor.example/")
    assert code == 0
    assert out.startswith("https://tutor.example/web/#/signin/")
    link = await OneTimeLinks(store, SystemClock()).peek(out.strip().rpartition("/")[2])
    assert (link.kind, link.uid) == ("return", "u1")
    monkeypatch.setenv("PIDJIN_PUBLIC_URL", "https://learn.example")
    assert (await say("users", "link", "u1"))[1].startswith("https://learn.example/web/#/signin/")
    code, _, err = await say("users", "link", "bo@example.org")
    assert (code, "there is no user" in err) == (1, True)
