"""A secure context without a proxy: the server speaks HTTPS with a certificate of its own."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.server.test_process import EXIT_S, READY_S, environment


def certificate(folder: Path) -> tuple[Path, Path]:
    """Files of a certificate for 127.0.0.1 and of its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pidjin test")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = folder / "cert.pem", folder / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return cert_file, key_file


@pytest.mark.req("HOME-19")
async def test_a_server_with_a_certificate_is_a_secure_context(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "server"),
        env=environment(
            PIDJIN_PORT="0",
            PIDJIN_DATA_DIR=str(tmp_path / "data"),
            PIDJIN_TLS_CERT=str(cert),
            PIDJIN_TLS_KEY=str(key),
            GEMINI_API_KEY="canary-key-never-used",
        ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(READY_S):
            line = b""
            while b"/signin/" not in line:
                line = await process.stdout.readline()
                assert line, "the server ended"
        url, _, code = line.decode().strip().partition("/web/#/signin/")
        assert url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=cert)
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http,
            http.post(f"{url}/api/redeemLink", json={"code": code}, ssl=trusting) as response,
        ):
            assert response.status == 200
            assert all(morsel["secure"] for morsel in response.cookies.values())
            assert "Strict-Transport-Security" in response.headers
            assert "microphone=(self)" in response.headers["Permissions-Policy"]
    finally:
        process.terminate()
        rest, _ = await asyncio.wait_for(process.communicate(), EXIT_S)
    assert process.returncode == 0, rest.decode()


@pytest.mark.req("HOME-19")
def test_the_documentation_says_how() -> None:
    text = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")
    for word in ("### HTTPS", "PIDJIN_TLS_CERT", "PIDJIN_TLS_KEY", "to localhost only"):
        assert word in text
