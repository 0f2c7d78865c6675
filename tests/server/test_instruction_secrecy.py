"""The instruction of the speaking model is composed here and goes to the model only."""

from __future__ import annotations

import json

import pytest

from agent.prompts import classic as classic_prompt
from agent.prompts import flow_c as flow_c_prompt
from agent.prompts.native import FRAME
from agent.styles import STYLES, policy
from tests.server.world import World, grounding

CANARY = "The canary of the digest sings at four."


@pytest.mark.req("PROMPT-28", "API-31")
async def test_the_native_instruction_is_in_no_answer(world: World) -> None:
    learner = await world.learner()
    world.model.groundings[:] = [grounding("The moon", "The sun", digest=CANARY)]
    topic_id = await learner.ground()
    answers = [
        await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id),
        await learner.turn(topic_id),
        await learner.call("endSession", sessionId="s1"),
    ]
    sent = json.dumps([request.body for request in world.gemini.requests], ensure_ascii=False)
    told = json.dumps(answers, ensure_ascii=False)
    secrets = [CANARY, *(rule.text for rule in FRAME)]
    secrets += [line for style in STYLES for line in policy(style).splitlines()]
    # What would be found if it were there.
    assert CANARY in sent
    assert json.dumps(FRAME[0].text, ensure_ascii=False)[1:-1] in sent
    assert not [secret for secret in secrets if secret in told]


@pytest.mark.req("PROMPT-35", "API-29", "API-32")
@pytest.mark.parametrize("flow_c", [True, False], ids=["flow-c", "classic"])
async def test_the_instructions_of_the_other_modes_are_in_no_answer(
    world: World, flow_c: bool
) -> None:
    learner = await world.learner()
    world.model.groundings[:] = [grounding("The moon", "The sun", digest=CANARY)]
    topic_id = await learner.ground()
    await world.configure(
        liveModel="gemini-3.1-flash-live-preview",
        liveNativeReply=False,
        liveAgentVoiceEnabled=not flow_c,
        liveAudioOutputEnabled=flow_c,
    )
    answer = await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id)
    told = json.dumps(answer, ensure_ascii=False)
    sent = json.dumps([request.body for request in world.gemini.requests], ensure_ascii=False)
    rules = flow_c_prompt.RULES if flow_c else classic_prompt.RULES
    secrets = [json.dumps(rule.text, ensure_ascii=False)[1:-1] for rule in rules]
    # A session that only listens is told nothing of the topic.
    assert (CANARY in sent) is flow_c
    assert CANARY not in told
    for secret in secrets:
        assert secret in sent
        assert secret not in told
