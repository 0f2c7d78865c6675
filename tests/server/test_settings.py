"""Settings: defaults, every mistake told at once, no secret in any message."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from server.settings import Settings, SettingsInvalid, gemini_api_key, load_settings

DEFAULTS = {
    "host": "127.0.0.1",
    "port": 8080,
    "udp_host": "127.0.0.1",
    "udp_port": 8080,
    "public_ip": (),
    "data_dir": Path(".pidjin"),
    "store": "sqlite",
    "identity": "local",
    "local_llm_url": None,
    "admin_email": None,
    "dev_token": None,
    "ice_servers": (),
    "gemini_api_base": None,
    "log_level": "INFO",
}


def mistakes(monkeypatch: pytest.MonkeyPatch, **environment: str) -> list[str]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as caught:
        load_settings()
    return caught.value.mistakes


@pytest.mark.req("CARD-8")
def test_nothing_has_to_be_set() -> None:
    settings = load_settings()
    assert {name: getattr(settings, name) for name in DEFAULTS} == DEFAULTS


def test_the_udp_port_follows_the_port_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIDJIN_PORT", "9001")
    assert load_settings().udp_port == 9001
    monkeypatch.setenv("PIDJIN_UDP_PORT", "9002")
    assert load_settings().udp_port == 9002


def test_lessons_may_listen_elsewhere_than_a_proxied_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIDJIN_UDP_HOST", "0.0.0.0")
    settings = load_settings()
    assert (settings.host, settings.udp_host, settings.loopback) == ("127.0.0.1", "0.0.0.0", True)


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIDJIN_PORT", "")
    assert load_settings().port == 8080


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().port = 1  # type: ignore[misc]


@pytest.mark.req("CARD-9")
def test_all_mistakes_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told = mistakes(
        monkeypatch,
        PIDJIN_PORT="eighty",
        PIDJIN_STORE="mysql",
        PIDJIN_IDENTITY="ldap",
        PIDJIN_PUBLIC_IP="203.0.113.5,here",
        PIDJIN_LOG_LEVEL="loud",
        PIDJIN_ICE_SERVERS='[{"url": "stun:x"}]',
    )
    assert len(told) == 6
    text = "\n".join(told)
    assert "PIDJIN_STORE: Input should be 'sqlite' or 'firestore'" in text
    assert "PIDJIN_IDENTITY: Input should be 'local' or 'firebase'" in text
    for name in ("PIDJIN_PORT", "PIDJIN_PUBLIC_IP", "PIDJIN_LOG_LEVEL", "PIDJIN_ICE_SERVERS"):
        assert name in text


@pytest.mark.parametrize("host", ["0.0.0.0", "203.0.113.5", "::", "tutor.example"])
def test_the_dev_token_is_for_loopback_only(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    told = mistakes(monkeypatch, PIDJIN_DEV_TOKEN="sesame-sesame", PIDJIN_HOST=host)
    assert "PIDJIN_DEV_TOKEN" in told[0]
    assert "sesame-sesame" not in told[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_loopback_takes_a_dev_token(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("PIDJIN_DEV_TOKEN", "sesame")
    monkeypatch.setenv("PIDJIN_HOST", host)
    assert load_settings().dev_token == "sesame"
    assert "sesame" not in repr(load_settings())


@pytest.mark.parametrize(
    ("one", "value", "other"),
    [
        ("PIDJIN_TURN_URL", "turn:half.example", "PIDJIN_TURN_SECRET"),
        ("PIDJIN_FIREBASE_API_KEY", "AIza-x", "PIDJIN_PUBLIC_URL"),
        ("PIDJIN_FIREBASE_API_KEY", "AIza-x", "PIDJIN_IDENTITY=firebase"),
        ("PIDJIN_FIREBASE_API_KEY", "AIza x", "PIDJIN_FIREBASE_API_KEY"),
        *(
            ("PIDJIN_PUBLIC_URL", odd, "PIDJIN_PUBLIC_URL")
            for odd in (
                "tutor.example.org",
                "http://tutor.example.org",
                "https://tutor.example.org/web",
                "https://me@tutor.example.org",
                "https://tutor.example.org?x",
                "https://tutor.example.org#x",
                "https://tutor.example.org:x",
                "https://",
                "https://tutor.exämple.org",
            )
        ),
        ("PIDJIN_TLS_CERT", "half.pem", "PIDJIN_TLS_KEY"),
        ("GEMINI_API_BASE", "https://half.example", "GEMINI_API_KEY"),
    ],
)
def test_half_of_a_pair_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, one: str, value: str, other: str
) -> None:
    assert other in "\n".join(mistakes(monkeypatch, **{one: value}))


@pytest.mark.req("CARD-9")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PIDJIN_ICE_SERVERS", "stun:stun.example.org"),
        ("PIDJIN_ICE_SERVERS", '{"urls": "stun:x.org"}'),
        ("PIDJIN_ICE_SERVERS", '[{"urls": 5}]'),
        ("PIDJIN_ICE_SERVERS", '[{"urls": []}]'),
        ("PIDJIN_ICE_SERVERS", '[{"urls": ["stun:x.org", "https://x.org"]}]'),
        ("PIDJIN_TURN_URL", "relay.example.org:3478"),
        ("PIDJIN_TURN_URL", "turn:a.example,stun:b.example"),
        ("PIDJIN_ALLOWED_HOSTS", "https://tutor.example"),
        ("PIDJIN_ALLOWED_HOSTS", "tutor.example:8080"),
        ("PIDJIN_ALLOWED_HOSTS", "good.example, tutor.example/web"),
        ("PIDJIN_ADMIN_EMAIL", "nobody"),
        ("PIDJIN_ADMIN_EMAIL", "a b@example.org"),
    ],
)
def test_a_value_of_the_wrong_shape_is_told_beside_other_mistakes(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    told = mistakes(monkeypatch, **{name: value}, PIDJIN_PORT="eighty")
    assert sorted(line.split(":")[0] for line in told) == sorted([name, "PIDJIN_PORT"])


def test_values_of_the_right_shape_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = '[{"urls": ["stun:x.org", "turns:[2001:db8::1]:443?transport=tcp"]}]'
    monkeypatch.setenv("PIDJIN_ICE_SERVERS", servers)
    monkeypatch.setenv("PIDJIN_ALLOWED_HOSTS", "Tutor.Example, my_host,203.0.113.7,2001:db8::1")
    monkeypatch.setenv("PIDJIN_TURN_URL", "turn:a.example:3478, turns:b.example:443?transport=tcp")
    monkeypatch.setenv("PIDJIN_TURN_SECRET", "secret")
    settings = load_settings()
    assert list(settings.ice_servers) == json.loads(servers)
    assert settings.allowed_hosts == ("tutor.example", "my_host", "203.0.113.7", "2001:db8::1")


@pytest.mark.req("AUTH-15")
def test_the_key_is_read_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gemini_api_key() == ""
    monkeypatch.setenv("GEMINI_API_KEY", "first ")
    assert gemini_api_key() == "first"
    monkeypatch.setenv("GEMINI_API_KEY", "second")
    assert gemini_api_key() == "second"
    assert "second" not in repr(load_settings())


# --- backends -----------------------------------------------------------------------------------


@pytest.mark.req("CARD-9")
@pytest.mark.parametrize(
    ("name", "value"), [("PIDJIN_STORE", "firestore"), ("PIDJIN_IDENTITY", "firebase")]
)
def test_a_choice_of_firebase_needs_a_project(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    told = mistakes(monkeypatch, **{name: value})
    assert told == [
        f"PIDJIN_FIREBASE_PROJECT: {name}={value} needs it: the id of the Firebase project"
    ]
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "of-the-machine")
    assert load_settings().project == "of-the-machine"
    monkeypatch.setenv("PIDJIN_FIREBASE_PROJECT", "of-pidjin")
    assert load_settings().project == "of-pidjin"


@pytest.mark.req("CARD-9")
@pytest.mark.parametrize(
    ("name", "value", "package", "distribution"),
    [
        ("PIDJIN_STORE", "firestore", "google.cloud.firestore_v1", "google-cloud-firestore"),
        ("PIDJIN_IDENTITY", "firebase", "firebase_admin", "firebase-admin"),
    ],
)
def test_packages_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, package: str, distribution: str
) -> None:
    genuine = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == package else genuine(name)
    )
    assert load_settings().store == "sqlite"
    told = mistakes(monkeypatch, **{name: value}, PIDJIN_FIREBASE_PROJECT="demo-x")
    (line,) = told
    assert line.startswith(f"{name}={value} needs a package that is not installed: pip install ")
    assert line.endswith(distribution)


@pytest.mark.parametrize("project", ["", "a/b", "UPPER", "x y", "-x", "projects/x"])
def test_a_project_is_an_id(monkeypatch: pytest.MonkeyPatch, project: str) -> None:
    told = mistakes(monkeypatch, PIDJIN_STORE="firestore", PIDJIN_FIREBASE_PROJECT=project)
    assert told[0].startswith("PIDJIN_FIREBASE_PROJECT: ")


@pytest.mark.parametrize("name", ["FIRESTORE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST"])
def test_an_emulator_is_a_host_and_a_port(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    told = mistakes(monkeypatch, **{name: "http://127.0.0.1:9099"})
    assert told == [f"{name}: must be host:port"]


@pytest.mark.req("AUTH-1")
def test_the_auth_emulator_is_for_demo_projects_on_loopback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", "127.0.0.1:9099")
    assert load_settings().identity == "local"
    monkeypatch.setenv("PIDJIN_IDENTITY", "firebase")
    for project, host in (("my-school", "127.0.0.1"), ("demo-school", "0.0.0.0")):
        told = mistakes(monkeypatch, PIDJIN_FIREBASE_PROJECT=project, PIDJIN_HOST=host)
        assert "FIREBASE_AUTH_EMULATOR_HOST" in told[0]
    monkeypatch.setenv("PIDJIN_HOST", "127.0.0.1")
    assert load_settings().identity == "firebase"


def test_the_public_address_is_an_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, kept in (
        ("https://Tutor.example.org/", "https://tutor.example.org"),
        ("https://tutor.example.org:8443", "https://tutor.example.org:8443"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ):
        monkeypatch.setenv("PIDJIN_PUBLIC_URL", given)
        assert load_settings().public_url == kept
