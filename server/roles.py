"""Who may do what: the four roles, and which of them a stored value grants. Pure (AUTH-4 to 8)."""

from __future__ import annotations

from enum import StrEnum

from server.errors import Code, Refused


class Role(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    ADMIN = "admin"
    REJECTED = "rejected"


_GRANTS = {
    Role.PENDING: frozenset({Role.PENDING}),
    Role.REJECTED: frozenset({Role.REJECTED}),
    Role.APPROVED: frozenset({Role.APPROVED}),
    Role.ADMIN: frozenset({Role.APPROVED, Role.ADMIN}),
}
_REASON = {
    Role.PENDING: "Your account is waiting for an admin to approve it. Nothing else is needed.",
    Role.REJECTED: "Your account has no access to Pidjin. Ask an admin if that is a mistake.",
    Role.APPROVED: "Only an admin may do this.",
}


def role_of(stored: object) -> Role:
    """The role a stored value grants; an unknown value grants no more than pending (AUTH-6)."""
    return Role(stored) if isinstance(stored, str) and stored in list(Role) else Role.PENDING


def require(role: Role, needed: Role) -> None:
    """Raises `permission-denied` unless `role` includes `needed`; details name the own role."""
    if needed not in _GRANTS[role]:
        raise Refused(Code.PERMISSION_DENIED, _REASON[role], details={"role": role.value})


def initial_role(email: str, *, email_verified: bool, admin_email: str | None) -> Role:
    """Role at first sign-in: admin only for the *verified* bootstrap address (AUTH-4)."""
    if email_verified and admin_email and email.casefold() == admin_email.casefold():
        return Role.ADMIN
    return Role.PENDING
