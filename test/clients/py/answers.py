"""Checks answers of the gateway against the models of the vendors' SDKs, strictly.

The SDKs themselves accept nearly everything: they build their objects without validation and keep unknown members.
Here a wrong type, a missing member, an unknown enum value and an unknown member are deviations.
"""

import base64
import json
import re
import warnings
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import anthropic.types as claude
import anthropic.types.beta as claude_beta
import openai.types as openai
import openai.types.chat as chat
import openai.types.responses as responses
from google.genai import types as google
from pydantic import BaseModel, TypeAdapter, ValidationError

from recording_proxy import Exchange


@dataclass(frozen=True)
class Finding:
    """`where` names the model, `deviations` what it does not allow."""

    where: str
    text: str
    deviations: list[str]


# Unknown members that are on purpose, by the class that has them.
EXTENSIONS: dict[str, tuple[set[str], str]] = {
    "CompletionUsage": ({"cost", "cost_usd"}, "the charge, beside the counts of BILL-11"),
    "Model": (
        {
            "architecture",
            "canonical_slug",
            "context_length",
            "default_parameters",
            "expiration_date",
            "links",
            "name",
            "per_request_limits",
            "pricing",
            "supported_parameters",
            "supported_voices",
            "top_provider",
        },
        "CAT-8",
    ),
    "OpenAiModels": ({"links", "total_count"}, "CAT-8"),
    "*ErrorObject": ({"code", "param", "details"}, "ERR-1 and ERR-8; `details` is what the tool runner reads"),
    "ChatCompletionMessageFunctionToolCall": ({"extra_content"}, "https://ai.google.dev/gemini-api/docs/openai"),
    "ChoiceDeltaToolCall": ({"extra_content"}, "https://ai.google.dev/gemini-api/docs/openai"),
    # https://platform.openai.com/docs/api-reference/responses has them; the generated classes do not.
    "Response": ({"store"}, "the vendor's answer"),
    "*Event": ({"obfuscation"}, "the vendor's answer: `stream_options.include_obfuscation`"),
}


def is_extension(value: BaseModel, name: str) -> bool:
    kind = type(value).__name__
    return any(
        name in names and (kind == pattern or pattern[0] == "*" and kind.endswith(pattern[1:]))
        for pattern, (names, _) in EXTENSIONS.items()
    )


class ChatError(BaseModel, extra="forbid"):
    error: openai.shared.ErrorObject


class GoogleErrorBody(BaseModel, extra="forbid"):
    """The SDK has no model. `status` and `details` are Google's (https://google.aip.dev/193); the rest is ERR-1's."""

    code: int | str
    message: str
    status: str
    details: list[Any] = []
    type: str | None = None
    param: str | None = None


class GoogleError(BaseModel, extra="forbid"):
    error: GoogleErrorBody


class OpenAiModels(BaseModel, extra="allow"):
    object: str
    data: list[openai.Model]


class ClaudeModels(BaseModel, extra="forbid"):
    data: list[claude.ModelInfo]
    first_id: str | None
    has_more: bool
    last_id: str | None


END = "end of the stream"


def is_claude(exchange: Exchange) -> bool:
    return "x-api-key" in exchange.headers or "anthropic-version" in exchange.headers


def is_error(text: str) -> bool:
    """An error may come in a stream, too."""
    value = json.loads(text)
    return value.get("error") is not None and value.get("object") != "response"


def error_type_of(exchange: Exchange) -> tuple[str, Any]:
    if exchange.path.startswith("/v1beta/"):
        return "GoogleError", GoogleError
    if "/messages" in exchange.path or is_claude(exchange):
        return "ErrorResponse", claude.ErrorResponse
    return "ErrorObject", ChatError


def type_of(exchange: Exchange, is_event: bool) -> tuple[str, Any]:
    """Name and type of an answer, or of one event of a stream."""
    path = exchange.path
    if path == "/v1/chat/completions":
        return ("ChatCompletionChunk", chat.ChatCompletionChunk) if is_event else ("ChatCompletion", chat.ChatCompletion)
    if path == "/v1/responses":
        return ("ResponseStreamEvent", responses.ResponseStreamEvent) if is_event else ("Response", responses.Response)
    if path == "/v1/messages" and is_event:
        return "RawMessageStreamEvent", claude.RawMessageStreamEvent
    if path == "/v1/messages":
        return "Message", claude.Message
    if path == "/v1/messages/count_tokens":
        return "MessageTokensCount", claude.MessageTokensCount
    if path == "/v1/models":
        return ("ClaudeModels", ClaudeModels) if is_claude(exchange) else ("OpenAiModels", OpenAiModels)
    if path.startswith("/v1/models/"):
        return ("ModelInfo", claude.ModelInfo) if is_claude(exchange) else ("Model", openai.Model)
    if path == "/v1/embeddings":
        return "CreateEmbeddingResponse", openai.CreateEmbeddingResponse
    if path == "/v1/moderations":
        return "ModerationCreateResponse", openai.ModerationCreateResponse
    if path.endswith("enerateContent"):
        return "GenerateContentResponse", google.GenerateContentResponse
    if path.endswith(":countTokens"):
        return "CountTokensResponse", google.CountTokensResponse
    if path == "/v1beta/models":
        return "ListModelsResponse", google.ListModelsResponse
    if path.startswith("/v1beta/models/"):
        return "Model", google.Model
    raise LookupError(f"no model for {exchange.method} {path}")


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def kinds_by_type(union: Any) -> dict[str, Any]:
    """Members of a union of events, by their `type`. One error then names the wrong member, and not those of all kinds."""
    members = get_args(get_args(union)[0])
    return {value: kind for kind in members for value in get_args(kind.model_fields["type"].annotation)}


def texts_of(exchange: Exchange) -> Iterator[str]:
    """The answer, or the data of each event."""
    if not is_stream(exchange):
        yield exchange.body.decode()
        return
    for event in re.split(r"\r?\n\r?\n", exchange.body.decode()):
        lines = [line for line in event.splitlines() if line.startswith("data:")]
        if lines:
            yield "\n".join(line.removeprefix("data:").removeprefix(" ") for line in lines)


# The SDK's beta calls use the same routes, so these must hold as well.
BETA_TYPES = {
    "RawMessageStreamEvent": claude_beta.BetaRawMessageStreamEvent,
    "Message": claude_beta.BetaMessage,
    "MessageTokensCount": claude_beta.BetaMessageTokensCount,
}


def check(exchange: Exchange) -> list[Finding]:
    texts = list(texts_of(exchange))
    findings = []
    if is_stream(exchange) and exchange.path == "/v1/chat/completions":
        # CHAT-14: a stream that breaks off ends with an error and without this line.
        if texts[-1] == "[DONE]" or not is_error(texts[-1]):
            last = texts.pop()
            findings.append(Finding(END, last, [] if last == "[DONE]" else ["[DONE] is missing"]))
    for text in texts:
        name, kind = type_in(exchange, text)
        deviations = list(deviations_of(kind, text))
        if name in BETA_TYPES:
            deviations += [f"beta: {deviation}" for deviation in deviations_of(BETA_TYPES[name], text)]
        findings.append(Finding(name, text, deviations))
    return findings


def is_blind(exchange: Exchange, finding: Finding) -> bool:
    """Whether the check would miss an unknown member in this answer. A check that cannot fail proves nothing."""
    if finding.where == END or json.loads(finding.text) == {"type": "ping"}:
        return False
    kind = type_in(exchange, finding.text)[1]
    return not list(deviations_of(kind, json.dumps({**json.loads(finding.text), "unexpected_member": 1})))


def type_in(exchange: Exchange, text: str) -> tuple[str, Any]:
    return error_type_of(exchange) if is_error(text) else type_of(exchange, is_stream(exchange))


def is_stream(exchange: Exchange) -> bool:
    return "text/event-stream" in exchange.content_type


def deviations_of(kind: Any, text: str) -> Iterator[str]:
    value = json.loads(text)
    # https://docs.claude.com/en/docs/build-with-claude/streaming: any number of them, and without a type in the SDK.
    if value == {"type": "ping"}:
        return
    if get_origin(kind) is Annotated:
        event = kinds_by_type(kind).get(value.get("type"))
        if event is None:
            yield f"unknown event {value.get('type')}"
            return
        kind = event
    if kind is openai.CreateEmbeddingResponse:
        # The SDK asks for base64 and decodes it.
        for item in value["data"]:
            if isinstance(item["embedding"], str):
                item["embedding"] = list(array("f", base64.b64decode(item["embedding"])))
    if kind is google.ListModelsResponse:
        value = {**value, "models": [google_model(model) for model in value["models"]]}
    if kind is google.CountTokensResponse:
        # https://ai.google.dev/api/tokens has it; the generated class does not.
        value.pop("promptTokensDetails", None)
    if kind is google.Model:
        value = google_model(value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            parsed = adapter_of(kind).validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_context=False):
                place = ".".join(str(part) for part in detail["loc"])
                yield f"{place}: {detail['msg']} ({str(detail['input'])[:60]})"
            return
    # The Google SDK makes a new member of an enum of an unknown value, with a warning.
    yield from (f"warning: {warning.message}" for warning in caught)
    yield from unknown_members(parsed, "")


def google_model(model: dict[str, Any]) -> dict[str, Any]:
    """The SDK renames this member."""
    renamed = {"supportedGenerationMethods": "supportedActions"}
    return {renamed.get(name, name): value for name, value in model.items()}


def unknown_members(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from unknown_members(item, f"{place}[]")
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from unknown_members(member, f"{place}.{name}")
    elif isinstance(value, BaseModel):
        for name in value.model_extra or {}:
            if not is_extension(value, name):
                yield f"{place}.{name}: unknown member of {type(value).__name__}"
        for name in value.model_fields_set & type(value).model_fields.keys():
            yield from unknown_members(getattr(value, name), f"{place}.{name}")
