"""A pasted document and the prompts that carry it, in the product's machine format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from local_gemini.brain import LocalBrain

TITLE = "How vaccines train immunity"
VACCINES = """\
Vaccines let the body practise for an infection without the danger of falling ill. A vaccine \
carries an antigen, a harmless piece or a weakened form of a germ. The antigen looks like the real \
thing to the immune system, but it can not cause the disease itself.

Soon after the injection, scout cells pick up the antigen and carry it to a lymph node. There they \
present it to white blood cells, as a guard might hand round the photograph of a thief. Only those \
few cells whose receptors fit the antigen are chosen and begin to multiply.

Among the chosen cells are B cells, which turn into small factories for antibodies. Antibodies are \
proteins shaped like a Y that stick to the germ. A germ covered with antibodies can no longer \
enter our own cells, and it is easily eaten by macrophages.

When the alarm is over, most of these fighters die, yet some stay behind as memory cells. Memory \
cells can survive for decades in the bone marrow. If the same germ returns, they react within \
hours instead of days, so that the person often notices nothing at all.

Memory fades for some vaccines, which is why booster doses exist. A booster shows the antigen once \
more and wakes the memory cells, which lifts protection again. When enough people in a town are \
immune, a germ finds nobody to jump to, and even newborns who are too young are shielded.
"""
GOOD_ANSWERS = (
    "A vaccine carries a harmless piece of the germ that can not cause the disease.",
    "Scout cells carry the antigen to the lymph node and show it to white blood cells.",
    "The antibodies stick to the germ so that it can not enter our cells.",
    "Memory cells survive for decades and react quickly if the germ returns.",
    "A booster dose shows the antigen again and wakes up the memory cells.",
)


def quoted(text: str) -> str:
    return "\n".join("| " + line for line in text.splitlines())


def ground(brain: LocalBrain, text: str, title: str = TITLE, **config: Any) -> dict[str, Any]:
    prompt = (
        f"TASK ground-document\nTITLE: {title}\n"
        "BUDGET digestChars=6000 outlineMax=20 sectionDigestChars=600\n"
        f"Read it.\nDOCUMENT\n{quoted(text)}"
    )
    request: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        **config,
    }
    answer: dict[str, Any] = json.loads(brain.generate("any", request).text or "")
    return answer


def agenda_lines(agenda: Sequence[str], covered: Sequence[str]) -> str:
    return "\n".join(
        f"{number}. {title}{' [covered]' if title in covered else ''}"
        for number, title in enumerate(agenda, 1)
    )


def live_instruction(
    grounded: dict[str, Any],
    style: str,
    covered: Sequence[str] = (),
    turns: int = 0,
    topic: str = TITLE,
) -> str:
    agenda = [point["title"] for point in grounded["outline"]]
    return (
        f"You speak.\n\nSTYLE: {style}\n- rules\n\nKIND: document.\n\nTOPIC: {topic}\n"
        f"GROUNDED DIGEST:\n{quoted(grounded['digest'])}\nSOURCES:\n| none\n\n"
        f"AGENDA:\n{agenda_lines(agenda, covered)}\nREMAINING: some.\n\n"
        f"The learner has already taken {turns} turn(s)."
    )


def move_request(
    grounded: dict[str, Any],
    style: str,
    state: dict[str, Any],
    utterance: str,
    *,
    reply: str | None = None,
    interrupted: bool = False,
    turns: int = 0,
    tools: Sequence[str] = (),
    with_digest: bool = True,
    topic: str = TITLE,
) -> dict[str, Any]:
    outline = "\n".join(
        f"s{number} {point['title']}" for number, point in enumerate(grounded["outline"], 1)
    )
    observer = "OBSERVER MODE\n- rules\n" if reply is not None else ""
    digest = grounded["digest"] if with_digest else "An overview."
    system = (
        f"STYLE: {style}\n- rules\n\nANSWER CONTRACT\n- rules\n{observer}\nMETA topicId=t1\n"
        f"TOPIC: {topic}\nGROUNDED DIGEST:\n{quoted(digest)}\nSOURCES:\n| none\n"
        f"OUTLINE:\n{quoted(outline)}\n\nREVEAL STATE: {json.dumps(state)}\nLEARNER TURNS: {turns}"
    )
    message = "LEARNER UTTERANCE\n" + (quoted(utterance) if utterance else "(none)")
    if reply is not None:
        message += f"\nTUTOR REPLY\n{quoted(reply)}"
        if interrupted:
            message += "\n(the reply was cut short; only these words were heard)"
    request: dict[str, Any] = {
        "systemInstruction": {"parts": [{"text": system}]},
        "contents": [{"role": "user", "parts": [{"text": message}]}],
    }
    if tools:
        request["tools"] = [{"functionDeclarations": [{"name": name} for name in tools]}]
    return request


def state_update(agenda: Sequence[str], covered: Sequence[str], note: str = "Go on.") -> str:
    left = [title for title in agenda if title not in covered]
    following = f'Next point to teach: "{left[0]}"' if left else "A closing summary is due."
    return (
        f"[TUTOR STATE UPDATE]\nMove: ask\nNote: {note}\n"
        f"Agenda:\n{agenda_lines(agenda, covered)}\n{following}"
    )
