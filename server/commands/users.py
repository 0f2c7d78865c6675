"""`pidjin users list|approve|reject|revoke|link`: who may learn here, decided at the server's
shell, and the way back for somebody whose browser has forgotten them."""

from __future__ import annotations

import argparse
import json

from server.commands.console import OPERATOR, CommandFailed, helping, opened, table
from server.commands.link import add_url, address
from server.context import Context
from server.operations.people import set_role
from server.operations.return_links import PATH, mint_return_link
from server.reads import user_row
from server.roles import Role
from server.store.port import Doc, Invalid
from server.store.records import user_path

PAGE = 200

_DECISIONS = {
    "approve": (Role.APPROVED, "give a user access"),
    "reject": (Role.REJECTED, "refuse access to a user who asked for it"),
    "revoke": (Role.REJECTED, "take access away from a user"),
}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("users", help="see who is here, and decide who may learn")
    parser.set_defaults(run=helping(parser))
    verbs = parser.add_subparsers(metavar="VERB")
    listed = verbs.add_parser("list", help="all users, newest first")
    listed.add_argument("--role", choices=list(Role), help="only users of this role")
    listed.add_argument("--json", action="store_true", help="as a JSON list")
    listed.set_defaults(run=run_list)
    for verb, (role, what) in _DECISIONS.items():
        decide = verbs.add_parser(verb, help=what)
        decide.add_argument("user", metavar="UID_OR_EMAIL")
        decide.set_defaults(run=run_decide, role=role)
    link = verbs.add_parser(
        "link", help="print a one-time link that signs a user in again, as who they are"
    )
    link.add_argument("user", metavar="UID_OR_EMAIL")
    add_url(link)
    link.set_defaults(run=run_link)


async def run_list(options: argparse.Namespace) -> int:
    async with opened() as ctx:
        rows = [user_row(doc) for doc in await everybody(ctx, options.role)]
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    head = ("UID", "ROLE", "E-MAIL", "NAME", "SINCE")
    keys = ("uid", "role", "email", "displayName", "createdAt")
    print(table(head, [[_cell(row.get(key)) for key in keys] for row in rows]))
    return 0


async def run_decide(options: argparse.Namespace) -> int:
    async with opened() as ctx:
        user = await find(ctx, options.user)
        await set_role(ctx, OPERATOR, user.id, options.role)
    print(f"{user.id} {_cell(user.data.get('email'))} is {options.role.value} now.")
    return 0


async def run_link(options: argparse.Namespace) -> int:
    async with opened() as ctx:
        where = address(ctx, options)
        user = await find(ctx, options.user)
        code = await mint_return_link(ctx, OPERATOR, user.id)
    print(f"{where}{PATH}{code}")
    return 0


async def everybody(ctx: Context, role: str | None = None) -> list[Doc]:
    """All users, or those of one role, newest first."""
    found: list[Doc] = []
    while True:
        page = await ctx.store.query(
            "users",
            where={"role": str(role)} if role else None,
            order_by="createdAt",
            desc=True,
            limit=PAGE,
            after=found[-1] if found else None,
        )
        found += page
        if len(page) < PAGE:
            return found


async def find(ctx: Context, name: str) -> Doc:
    """The one user with this uid or e-mail. Raises CommandFailed for none and for several: a
    local e-mail is only what somebody typed."""
    if "@" not in name:
        try:
            doc = await ctx.store.get(user_path(name))
        except Invalid:
            doc = None
        if doc is None:
            raise CommandFailed(f"there is no user with the uid {name}")
        return doc
    wanted = name.casefold()
    same = [
        doc for doc in await everybody(ctx) if str(doc.data.get("email", "")).casefold() == wanted
    ]
    if not same:
        raise CommandFailed(f"there is no user with the e-mail {name}")
    if len(same) > 1:
        uids = ", ".join(doc.id for doc in same)
        raise CommandFailed(f"{len(same)} users gave the e-mail {name}; name one by uid: {uids}")
    return same[0]


def _cell(value: object) -> str:
    """Printable on one line: names and e-mails are what strangers typed."""
    text = str(value or "")
    return "".join(char if char.isprintable() else "?" for char in text)
