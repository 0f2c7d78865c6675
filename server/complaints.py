"""What is wrong with a request, as a sentence: which field, what is wrong, what may be. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from server.errors import Refused, invalid

# What people call the fields that they fill in themselves; any other is named as it is sent.
NAMES: Mapping[str, str] = {
    "displayName": "The name",
    "email": "The e-mail address",
    "code": "The code of the link",
    "topic": "The topic",
    "title": "The title",
    "text": "The text",
    "description": "The description",
    "searchQuery": "The search query",
    "style": "The style",
    "userUtteranceSummary": "What you said",
    "tutorReply": "The tutor’s reply",
    "mimeType": "The kind of file",
    "base64": "The file",
}


# The forms of ids, in words.
_FORMS: Mapping[str, str] = {
    r"^[A-Za-z0-9_-]{1,128}$": "must be an id of 1 to 128 letters, digits, - and _",
    r"^[0-9a-f]{64}$": "must be an id of 64 digits and letters from a to f",
}


# pydantic's kind of error -> what is wrong, and what is allowed.
_SAYS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda c: "is missing",
    "string_type": lambda c: "must be text",
    "string_too_long": lambda c: f"is too long: at most {c['max_length']} characters are allowed",
    "string_too_short": lambda c: (
        "must not be empty"
        if c["min_length"] == 1
        else f"is too short: at least {c['min_length']} characters are needed"
    ),
    "string_pattern_mismatch": lambda c: _FORMS.get(c["pattern"], "has a form that is not known"),
    "bool_type": lambda c: "must be true or false",
    "int_type": lambda c: "must be a whole number",
    "int_from_float": lambda c: "must be a whole number",
    "float_type": lambda c: "must be a number",
    "finite_number": lambda c: "must be a number",
    "greater_than_equal": lambda c: f"must be {c['ge']} or more",
    "greater_than": lambda c: f"must be more than {c['gt']}",
    "less_than_equal": lambda c: f"must be {c['le']} or less",
    "less_than": lambda c: f"must be less than {c['lt']}",
    "literal_error": lambda c: f"must be {_choices(c)}",
    "enum": lambda c: f"must be {_choices(c)}",
    "dict_type": lambda c: "must be a JSON object",
    "model_type": lambda c: "must be a JSON object",
    "model_attributes_type": lambda c: "must be a JSON object",
    "list_type": lambda c: "must be a JSON list",
    "tuple_type": lambda c: "must be a JSON list",
    "too_long": lambda c: f"has too many entries: at most {c['max_length']} are allowed",
    "too_short": lambda c: f"has too few entries: at least {c['min_length']} are needed",
}


def _choices(context: Mapping[str, Any]) -> str:
    return str(context["expected"]).replace("'", "")


def complaint(error: ValidationError, names: Mapping[str, str] = NAMES) -> Refused:
    """`invalid-argument`: the message is about the first mistake, `details.fields` has them all."""
    mistakes = [
        (_path(detail["loc"]), _problem(detail))
        for detail in error.errors(include_url=False, include_input=False)
    ]
    field, problem = mistakes[0]
    return invalid(
        _sentence(field, problem, names),
        fields=[{"field": field, "problem": problem} for field, problem in mistakes],
    )


def about(field: str, problem: str) -> Refused:
    """The same about one field that was checked by hand."""
    return invalid(_sentence(field, problem, NAMES), fields=[{"field": field, "problem": problem}])


def _sentence(field: str, problem: str, names: Mapping[str, str]) -> str:
    if not field:
        return f"{problem[:1].upper()}{problem[1:]}."
    name = names.get(field, f"The field “{field}”")
    return f"{name} {problem}."


def _path(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location)


def _problem(detail: ErrorDetails) -> str:
    says = _SAYS.get(detail["type"])
    if says is not None:
        return says(detail.get("ctx", {}))
    text = detail["msg"].removeprefix("Value error, ").rstrip(".")
    return text if detail["type"] == "value_error" else f"is not valid: {text}"
