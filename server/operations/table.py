"""All operations of the product in one table: HTTP, the callable form and OpenAPI read it."""

from __future__ import annotations

from server.operations.catalog import ADMIN_CREATE_TOPIC, ADMIN_UPDATE_TOPIC
from server.operations.dialogue import DIALOGUE_TURN
from server.operations.documents import GROUND_DOCUMENT
from server.operations.live_token import GET_LIVE_SESSION_TOKEN
from server.operations.news_config import ADMIN_GET_NEWS_CONFIG, ADMIN_SET_NEWS_CONFIG
from server.operations.people import APPROVE_USER, MINT_INVITE, REJECT_USER, REVOKE_USER
from server.operations.pipeline import RUN_NEWS_PIPELINE, SCHEDULED_NEWS_PIPELINE
from server.operations.preferences import SET_PREFERRED_STYLE, SET_SESSION_STYLE
from server.operations.return_links import MINT_SIGN_IN_LINK
from server.operations.sessions import DELETE_SESSION, END_SESSION, REOPEN_SESSION
from server.operations.speech import SPEAK_TEXT
from server.operations.topics import GROUND_TOPIC
from server.registry import Registry

OPERATIONS = Registry(
    (
        GROUND_TOPIC,
        GROUND_DOCUMENT,
        DIALOGUE_TURN,
        GET_LIVE_SESSION_TOKEN,
        SPEAK_TEXT,
        END_SESSION,
        REOPEN_SESSION,
        DELETE_SESSION,
        SET_SESSION_STYLE,
        SET_PREFERRED_STYLE,
        APPROVE_USER,
        REJECT_USER,
        REVOKE_USER,
        MINT_INVITE,
        MINT_SIGN_IN_LINK,
        ADMIN_GET_NEWS_CONFIG,
        ADMIN_SET_NEWS_CONFIG,
        ADMIN_CREATE_TOPIC,
        ADMIN_UPDATE_TOPIC,
        RUN_NEWS_PIPELINE,
        SCHEDULED_NEWS_PIPELINE,
    )
)
