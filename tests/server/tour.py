"""One walk through the whole API, and what it answered and stored; the same wherever it is stored.

Random ids, tokens and codes are replaced by the names of their owners.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from server.store.port import Doc, Store
from server.store.records import document_topic_id, own_topic_id
from tests.server.world import Person, World, decision, grounding

# Everything that learners and admins make, local credentials left out: those are random.
COLLECTIONS = (
    "users",
    "topics",
    "sessions",
    "usage",
    "topicCatalog",
    "topicPipelineStatus",
    "config",
)


class Tour:
    def __init__(self, world: World) -> None:
        self.world = world
        self.answers: list[tuple[str, int, Any]] = []
        self.documents: dict[str, Any] = {}
        self._names: dict[str, str] = {}

    async def walk(self) -> None:
        world = self.world
        world.model.groundings = [grounding("The moon", "The sun", "Spring tides")]
        world.model.moves = [decision("ask", "Why?", ["The moon", "The sun"], ["The moon"])]
        admin, ada, bo = await self._people()
        await self._access(admin, ada)
        topics = await self._topics(ada)
        await self._dialogue(ada, bo, topics)
        await self._sessions(admin, ada, bo)
        await self._news(admin, ada)
        await self._numbers(admin, ada)

    async def look(self) -> None:
        """Reads all documents, page by page."""
        found: dict[str, Any] = {}
        for collection in COLLECTIONS:
            for doc in await everything(self.world.ctx.store, collection):
                found[doc.path] = doc.data
        self.documents = self._named(found)

    # --- the legs -------------------------------------------------------------------------------

    async def _people(self) -> tuple[Person, Person, Person]:
        people = []
        for name in ("admin", "ada", "bo"):
            if name == "admin":
                person = await self.world.admin()
            else:
                person = await self.world.sign_up(name.title(), f"{name}@example.org")
            self._names |= {person.uid: f"<{name}>", person.token: f"<token of {name}>"}
            # Ids of one's own topics are made of one's uid.
            self._names[document_topic_id("Tides", person.uid)] = f"<tides of {name}>"
            self._names[own_topic_id("Comet seen", person.uid)] = f"<comet of {name}>"
            self.world.clock.advance(seconds=1)
            people.append(person)
        return people[0], people[1], people[2]

    async def _access(self, admin: Person, ada: Person) -> None:
        await self._get(ada, "/api/me", "/api/config", "/api/sessions", "/api/admin/users")
        await self._post(ada, "groundDocument", title="Tides", text="1. The moon.")
        await self._get(admin, "/api/admin/users?role=pending", "/api/admin/users?limit=2")
        await self._get(
            admin, f"/api/admin/users?limit=2&after={ada.uid}", "/api/admin/users?role=x"
        )
        await self._post(admin, "approveUser", uid=ada.uid)
        await self._post(admin, "approveUser", uid="nobody")
        await self._get(ada, "/api/me", "/api/config")
        invite = await admin.call("mintInvite")
        bo = next(uid for uid, name in self._names.items() if name == "<bo>")
        for _ in range(2):
            form = {"code": invite["code"], "displayName": "Cy", "email": "cy@example.org"}
            status, answer = await self.world.post("/api/redeemLink", form)
            if status == 200:
                self._names |= {answer["user"]["uid"]: "<cy>", answer["token"]: "<token of cy>"}
            self._note("redeemLink", status, answer)
            self.world.client.session.cookie_jar.clear()
        await self._post(admin, "rejectUser", uid=bo)
        await self._post(admin, "approveUser", uid=bo)

    async def _topics(self, ada: Person) -> list[str]:
        document = await self._post(ada, "groundDocument", title="Tides", text="1. The moon.")
        concept = await self._post(ada, "groundTopic", topic="Ocean currents")
        await self._post(ada, "groundTopic", topic="Ocean currents")
        topics = [document["topicId"], concept["topicId"]]
        for topic in (*topics, "f" * 64, "x"):
            await self._get(ada, f"/api/topics/{topic}")
        return topics

    async def _dialogue(self, ada: Person, bo: Person, topics: list[str]) -> None:
        for session in ("s1", "s2", "s3"):
            for said in ("", "The moon pulls the water."):
                self.world.clock.advance(seconds=5)
                await self._turn(ada, session, topics[0], said)
        await self._turn(ada, "s1", topics[1], "And currents?")
        await self._turn(bo, "s1", topics[0], "Mine?")
        await self._turn(ada, "s1", "e" * 64, "No such topic")
        together = [
            ada.post(
                "/api/dialogueTurn",
                {"sessionId": "s4", "topicId": topics[0], "userUtteranceSummary": "Both"},
            )
            for _ in range(2)
        ]
        statuses = sorted(status for status, _ in await asyncio.gather(*together))
        self._note("two turns at once", 0, statuses)

    async def _turn(self, who: Person, session: str, topic: str, said: str) -> None:
        await self._post(
            who, "dialogueTurn", sessionId=session, topicId=topic, userUtteranceSummary=said
        )

    async def _sessions(self, admin: Person, ada: Person, bo: Person) -> None:
        await self._get(
            ada, "/api/sessions", "/api/sessions?limit=1", "/api/sessions?limit=2&after=s3"
        )
        await self._get(ada, "/api/sessions/s1", "/api/sessions/none", "/api/sessions?after=none")
        await self._get(bo, "/api/sessions", "/api/sessions/s1")
        await self._get(admin, "/api/sessions/s1")
        await self._post(ada, "setPreferredStyle", style="lecture")
        await self._post(ada, "setSessionStyle", sessionId="s1", style="conversational")
        await self._post(bo, "setSessionStyle", sessionId="s1", style="lecture")
        for name in ("endSession", "reopenSession", "endSession", "deleteSession", "deleteSession"):
            await self._post(ada, name, sessionId="s2")
        await self._get(ada, "/api/sessions", "/api/sessions/s2", "/api/me")

    async def _news(self, admin: Person, ada: Person) -> None:
        made = []
        for title in ("Comet seen", "Ice melts"):
            self.world.clock.advance(seconds=1)
            item = await self._post(
                admin, "adminCreateTopic", kind="news", title=title, searchQuery=title
            )
            made.append(item["id"])
        again = {"kind": "news", "title": "Comet seen", "searchQuery": "comet"}
        await self._post(admin, "adminCreateTopic", **again)
        await self._post(admin, "adminUpdateTopic", id=made[0], status="active")
        await self._post(admin, "adminUpdateTopic", id="none", status="active")
        await self._get(ada, "/api/catalog", "/api/admin/catalog")
        await self._get(admin, "/api/admin/catalog", "/api/admin/catalog?status=draft")
        await self._post(ada, "groundTopic", topic="Comet seen", kind="news")
        await self._post(admin, "adminSetNewsConfig", newsAutoPublish=True)
        await self._get(admin, "/api/admin/news-config")
        status, answer = await admin.post("/api/runNewsPipeline", {})
        self._note("runNewsPipeline", status, answer)
        await self._get(admin, "/api/admin/pipeline-runs", "/api/admin/catalog")

    async def _numbers(self, admin: Person, ada: Person) -> None:
        await self._get(admin, "/api/admin/usage", "/api/admin/usage?date=20260115")
        await self.world.configure(dailyGeminiCallCap=1)
        await self._post(ada, "groundTopic", topic="Beyond the cap")
        await self._post(admin, "revokeUser", uid=ada.uid)
        await self._get(ada, "/api/me", "/api/sessions")
        await self._post(ada, "signOut")
        await self._get(ada, "/api/me")

    # --- what is noted --------------------------------------------------------------------------

    async def _get(self, who: Person, *paths: str) -> None:
        for path in paths:
            status, answer = await who.get(path)
            self._note(path, status, answer)

    async def _post(self, who: Person, name: str, **body: Any) -> Any:
        status, answer = await who.post(f"/api/{name}", body)
        self._note(name, status, answer)
        return answer

    def _note(self, what: str, status: int, answer: Any) -> None:
        self.answers.append((self._named(what), status, self._named(answer)))

    def _named(self, value: Any) -> Any:
        text = json.dumps(value, sort_keys=True)
        for secret, name in self._names.items():
            text = text.replace(secret, name)
        return json.loads(text)


async def everything(store: Store, collection: str) -> list[Doc]:
    found: list[Doc] = []
    while page := await store.query(collection, limit=3, after=found[-1] if found else None):
        found += page
    return found
