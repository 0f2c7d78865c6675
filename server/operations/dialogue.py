"""`dialogueTurn`: one exchange is decided on, settled and stored, before it is answered.

In normal mode the tutor's words are the agent's; with `tutorReply` they were spoken already and
the agent only keeps track (observer mode, OBS-1 to OBS-17).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from agent.decision import Decision
from agent.dialogue import MoveRequest, Settled, settle, shown_state
from agent.topic import Grounded
from server.callers import Caller
from server.clock import stamp
from server.config import AppConfig
from server.context import Context
from server.deleted_sessions import marked
from server.errors import not_ready
from server.operations.fields import REVEAL_STATE_MAX_CHARS, SessionId, Style, TopicId
from server.operations.owned import check_owner, require_open
from server.operations.teaching import Teaching, load_teaching, state_of
from server.operations.topics import refresh, up_to_date
from server.registry import MODEL_DEADLINE_S, Operation, Wire
from server.roles import Role
from server.store.port import Document, TooLarge, Transaction
from server.store.records import StoredTopic, portable, session_path, snapshot
from server.trouble import translated
from server.usage import Tally
from server.written_text import worded, written

log = logging.getLogger(__name__)

UTTERANCE_MAX_CHARS = 2000
REPLY_MAX_CHARS = 4000


def _small(value: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(value)) > REVEAL_STATE_MAX_CHARS:
        raise ValueError(f"must have at most {REVEAL_STATE_MAX_CHARS} characters of JSON")
    return value


class DialogueTurnRequest(Wire):
    """`revealState` is accepted for older clients and never trusted: the stored state rules.

    `style` counts for the turn that begins a conversation (UI-36), and is stored with it.
    """

    session_id: SessionId
    topic_id: TopicId
    user_utterance_summary: Annotated[
        str, Field(max_length=UTTERANCE_MAX_CHARS), AfterValidator(worded)
    ]
    reveal_state: Annotated[dict[str, Any], AfterValidator(_small)] | None = None
    tutor_reply: (
        Annotated[str, Field(max_length=REPLY_MAX_CHARS), AfterValidator(written)] | None
    ) = None
    tutor_interrupted: bool = False
    style: Style | None = None

    @model_validator(mode="after")
    def _heard(self) -> DialogueTurnRequest:
        if self.observing and not self.user_utterance_summary.strip():
            raise ValueError("with tutorReply, userUtteranceSummary must not be empty")
        return self

    @property
    def observing(self) -> bool:
        return bool(self.tutor_reply and self.tutor_reply.strip())


class DialogueTurnResponse(Wire):
    session_id: str
    topic_id: str
    mode: Literal["ask", "probe", "reveal", "conclude"]
    text: str
    updated_reveal_state: dict[str, Any]
    discrepancy_flagged: bool
    context_update: str | None = None


async def dialogue_turn(
    ctx: Context, caller: Caller, request: DialogueTurnRequest
) -> DialogueTurnResponse:
    """Turns of one session run one after another, in the order they were asked for (API-25).

    Raises PidjinError; a turn that could not be decided leaves nothing behind.
    """
    with translated():
        async with ctx.locks.of(request.session_id):
            return await _turn(ctx, caller, request)


async def _turn(ctx: Context, caller: Caller, request: DialogueTurnRequest) -> DialogueTurnResponse:
    teaching = await load_teaching(ctx, caller, request.session_id, request.topic_id)
    teaching = teaching.choosing(request.style)
    require_open(teaching.session)
    await ctx.quota.admit(caller.uid)
    config = await ctx.config.load()
    before = teaching.topic
    if teaching.news is not None:
        current = await up_to_date(ctx, teaching.news)
        if current is not teaching.news:
            teaching = _with_news(teaching, current)
    move = _move_request(request, teaching, config)
    teaching, decision = await _decide(ctx, caller.uid, teaching, move)
    refreshed = teaching.topic.digest if teaching.topic is not before else None
    settled = await _persist(ctx, caller.uid, teaching, move, decision, config, refreshed=refreshed)
    _log_settled(teaching, settled)
    answer: dict[str, Any] = {
        "sessionId": request.session_id,
        "topicId": request.topic_id,
        "mode": settled.mode,
        "text": settled.text,
        "updatedRevealState": portable(settled.reveal_state),
        "discrepancyFlagged": settled.discrepancy_flagged,
    }
    if settled.context_update is not None:
        answer["contextUpdate"] = settled.context_update
    return DialogueTurnResponse.model_validate(answer)


def _move_request(
    request: DialogueTurnRequest, teaching: Teaching, config: AppConfig
) -> MoveRequest:
    caps = config.tiers.caps(teaching.topic.depth_tier)
    return MoveRequest(
        topic=teaching.topic,
        topic_id=teaching.topic_id,
        grounded_at=teaching.grounded_at,
        style=teaching.style,
        reveal_state=shown_state(teaching.state, teaching.topic, caps),
        learner_turns=teaching.learner_turns,
        utterance=request.user_utterance_summary.strip(),
        tutor_reply=request.tutor_reply if request.observing else None,
        tutor_interrupted=request.tutor_interrupted,
        model=config.text_model,
        thinking_level=config.dialogue_thinking_level,
        recent=teaching.recent,
    )


def _with_news(teaching: Teaching, fresh: StoredTopic) -> Teaching:
    return replace(teaching, topic=fresh.grounded, grounded_at=fresh.grounded_at, news=fresh)


async def _decide(
    ctx: Context, uid: str, teaching: Teaching, move: MoveRequest
) -> tuple[Teaching, Decision]:
    """The decision, and what it was made on: the agent may search the news again (MOVE-5)."""
    latest = teaching

    async def search_again() -> Grounded:
        nonlocal latest
        if latest.news is None:
            raise not_ready("Only news can be searched again.")
        latest = _with_news(latest, await refresh(ctx, latest.news))
        return latest.topic

    tally = Tally(ctx.rates)
    try:
        decision = await ctx.move_agent.decide(
            move, tally.sink, refresh=search_again if teaching.news is not None else None
        )
    finally:
        await ctx.usage.add(uid, tally.bill)
    return latest, decision


async def _persist(
    ctx: Context,
    uid: str,
    teaching: Teaching,
    move: MoveRequest,
    decision: Decision,
    config: AppConfig,
    *,
    refreshed: str | None,
) -> Settled:
    """Appends the turn to the session as it is *now*: what another process added stays."""
    now = ctx.clock.now()
    existed = teaching.session is not None
    caps = config.tiers.caps(teaching.topic.depth_tier)

    async def store(compact: bool) -> Settled:
        async def work(transaction: Transaction) -> Settled:
            doc = await transaction.get(session_path(teaching.session_id))
            session = check_owner(doc, uid)
            if session is None and (existed or await marked(transaction, teaching.session_id)):
                raise not_ready("This conversation has been deleted.", reason="deleted")
            settled = settle(
                move,
                decision,
                state_of(session, teaching.topic_id),
                teaching.topic,
                caps,
                config.enforce_agenda_completion,
                refreshed_digest=refreshed,
            )
            updated = with_turn(session, uid, teaching, move.utterance, settled, now)
            if compact:
                updated = _compacted(updated)
            transaction.set(session_path(teaching.session_id), updated)
            return settled

        return await ctx.store.transaction(work)

    try:
        return await store(compact=False)
    except TooLarge:
        return await store(compact=True)


def with_turn(
    session: Mapping[str, Any] | None,
    uid: str,
    teaching: Teaching,
    utterance: str,
    settled: Settled,
    now: datetime,
) -> Document:
    """The session document with one more turn (DATA-16 to DATA-21); made on the first one."""
    state = portable(settled.reveal_state)
    turn: Document = {
        "topicId": teaching.topic_id,
        "mode": settled.mode,
        "text": settled.text,
        "revealState": state,
        "ts": stamp(now),
    }
    if utterance:
        turn["userText"] = utterance
    before: Document = {"uid": uid, "startedAt": stamp(now)}
    if teaching.chosen_style is not None:
        before |= {"style": teaching.chosen_style, "styleUpdatedAt": stamp(now)}
    if session is not None:
        before = dict(session)
    topic_ids = list(before.get("topicIds", []))
    if teaching.topic_id not in topic_ids:
        topic_ids.append(teaching.topic_id)
    return {
        **before,
        "topicIds": topic_ids,
        "topicLabels": {
            **before.get("topicLabels", {}),
            teaching.topic_id: teaching.topic.topic,
        },
        "grounded": {
            **before.get("grounded", {}),
            teaching.topic_id: snapshot(teaching.topic),
        },
        "turns": [*before.get("turns", []), turn],
        "revealState": state,
    }


def _compacted(session: Document) -> Document:
    """Past progress gives way before words do: only the last turn of a topic keeps its state."""
    seen: set[str] = set()
    turns: list[Document] = []
    for turn in reversed(session["turns"]):
        turns.append(turn if turn["topicId"] not in seen else {**turn, "revealState": {}})
        seen.add(turn["topicId"])
    return {**session, "turns": turns[::-1]}


def _log_settled(teaching: Teaching, settled: Settled) -> None:
    ids = {"session_id": teaching.session_id, "topic_id": teaching.topic_id}
    if settled.drifted:
        agenda = settled.reveal_state["agenda"]
        log.info(
            "agenda_drift",
            extra={**ids, "points": len(agenda), "unmatched": len(settled.unmatched)},
        )
    if settled.gated:
        log.info("conclude_gated", extra={**ids, "remaining": len(settled.remaining)})


DIALOGUE_TURN = Operation(
    name="dialogueTurn",
    summary="Decides on the tutor’s next move, or keeps track of one already spoken.",
    request=DialogueTurnRequest,
    response=DialogueTurnResponse,
    role=Role.APPROVED,
    run=dialogue_turn,
    quota=True,
    deadline_s=MODEL_DEADLINE_S,
)
