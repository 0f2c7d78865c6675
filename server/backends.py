"""Which store and which sign-in: the adapters that the settings name (CARD-9).

Google's packages are imported only when named: they cost a second and 50 MB, and need not be
installed otherwise.
"""

from __future__ import annotations

from server.clock import Clock
from server.identity.browser_sessions import BrowserSessions
from server.identity.google import GoogleAccounts
from server.identity.local import LocalIdentity, load_secret
from server.identity.port import IdentityVerifier
from server.settings import Settings
from server.store.port import Store
from server.store.sqlite import SqliteStore

STORE_FILE = "pidjin.sqlite3"


def store_of(settings: Settings) -> Store:
    """Opens nothing yet."""
    if settings.store == "sqlite":
        return SqliteStore(settings.data_dir / STORE_FILE)
    from server.store.firestore import FirestoreStore

    return FirestoreStore(settings.project, emulator_host=settings.firestore_emulator_host)


def local_identity(settings: Settings, store: Store, clock: Clock) -> LocalIdentity | None:
    """The sign-in of this server itself, where people sign in here. Raises SecretDamaged."""
    if settings.identity != "local":
        return None
    secret = load_secret(settings.data_dir)
    return LocalIdentity(store, clock, secret, dev_token=settings.dev_token)


def remote_identity(settings: Settings, clock: Clock) -> IdentityVerifier:
    """The sign-in somewhere else that the settings name. Opens nothing yet."""
    from server.identity.firebase import FirebaseIdentity

    return FirebaseIdentity(
        settings.project,
        clock,
        check_revoked=settings.firebase_check_revoked,
        dev_token=settings.dev_token,
    )


def google_accounts(settings: Settings) -> GoogleAccounts | None:
    """Google's accounts, where people sign in with them on our own page."""
    if settings.firebase_api_key is None or settings.public_url is None:
        return None
    return GoogleAccounts(settings.firebase_api_key, settings.public_url)


def browser_sessions(
    settings: Settings,
    store: Store,
    clock: Clock,
    identity: IdentityVerifier,
    google: GoogleAccounts,
) -> BrowserSessions:
    return BrowserSessions(store, clock, identity, google, strict=settings.firebase_check_revoked)
