"""LiteLLM on every route, with the parameters that its users set.

`GATEWAY_URL=... GATEWAY_KEY=... python litellm_matrix.py` prints a table and ends with 1 if a result differs from the
expectation. Refusals are expected only where `REFUSALS` has a source.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable

from recording_proxy import Exchange, start_proxy

exchanges: list[Exchange] = []
# Before the program is imported: it reads the URL when it is loaded.
os.environ["GATEWAY_URL"] = start_proxy(os.environ["GATEWAY_URL"], exchanges)

import litellm
import litellm_client

from suite import (
    GATEWAY_KEY,
    HELLO,
    IMAGE,
    PNG_URL,
    STRUCTURED,
    WEATHER,
    Job,
    Person,
    call,
    check_final,
    check_person,
    check_pieces,
    check_text,
    check_used,
    get_weather,
    status_of,
)

COLUMNS = [
    ("chat", "gpt-5.4-mini"),
    ("chat", "claude-haiku-4-5"),
    ("chat", "gemini-3.5-flash-lite"),
    ("responses", "gpt-5.5-pro"),
    ("messages", "claude-haiku-4-5"),
    ("messages", "claude-sonnet-5-5"),
    ("gemini", "gemini-3.5-flash-lite"),
]


@dataclass(frozen=True)
class Refusal:
    """`status` is that of the gateway, or `client` if LiteLLM refuses by itself, without a request."""

    status: int | str
    source: str


# Sources: rules of docs/behaviour.md, a vendor's documentation, or LiteLLM's own tables.
ONE_ANSWER = Refusal(422, "CHAT-3: a model that gives one answer at a time")
NOT_BY_CLIENT = "LiteLLM refuses the parameter for this model, without a request"
REFUSALS: dict[tuple[str, str, str], Refusal] = {
    **{("chat", model, "n"): ONE_ANSWER for route, model in COLUMNS if route == "chat"},
    ("gemini", "gemini-3.5-flash-lite", "n"): ONE_ANSWER,
    ("messages", "claude-haiku-4-5", "n"): Refusal("client", f"{NOT_BY_CLIENT}: Anthropic has no `n`"),
    ("messages", "claude-sonnet-5-5", "n"): Refusal("client", f"{NOT_BY_CLIENT}: Anthropic has no `n`"),
    ("chat", "gpt-5.4-mini", "stop"): Refusal("client", f"{NOT_BY_CLIENT}: OpenAI's GPT-5 models have no `stop`"),
    ("responses", "gpt-5.5-pro", "temperature"): Refusal(
        "client", f"{NOT_BY_CLIENT}: OpenAI's models take none while they reason"
    ),
    ("responses", "gpt-5.5-pro", "temperature_top_p"): Refusal(
        "client", f"{NOT_BY_CLIENT}: OpenAI's models take none while they reason"
    ),
    ("messages", "claude-sonnet-5-5", "temperature"): Refusal("client", f"{NOT_BY_CLIENT}: 1 only"),
    ("messages", "claude-sonnet-5-5", "temperature_top_p"): Refusal("client", f"{NOT_BY_CLIENT}: 1 only"),
    ("messages", "claude-haiku-4-5", "temperature_top_p"): Refusal(
        400, "Anthropic: `temperature` and `top_p` cannot both be specified for this model"
    ),
    ("messages", "claude-sonnet-5-5", "tool_choice_required"): Refusal(
        "client", f"{NOT_BY_CLIENT}: Anthropic's newest models take no forced tool"
    ),
    ("gemini", "gemini-3.5-flash-lite", "cache_control"): Refusal(
        404, "LiteLLM stores long marked prompts with `cachedContents`, which the gateway does not have"
    ),
}


# Members, or values of `type`, that carry a parameter to the gateway on one of the routes.
CARRIERS: dict[str, set[str]] = {
    "parallel_tool_calls_false": {"parallel_tool_calls", "disable_parallel_tool_use"},
    "tool_choice_required": {"tool_choice", "toolConfig", "tool_config"},
    "json_object": {"json_object", "application/json", "output_format", "output_config"},
    "stop": {"stop", "stop_sequences", "stopSequences"},
    "n": {"n", "candidateCount", "candidate_count"},
    "cache_control": {"cache_control"},
    "temperature": {"temperature"},
    "temperature_top_p": {"top_p", "topP"},
    "metadata": {"metadata", "labels"},
    "user": {"user", "user_id"},
    "reasoning_effort": {"reasoning_effort", "reasoning", "thinking", "thinkingConfig", "thinking_config"},
}


def was_sent(scenario: str) -> bool:
    """Whether a request of the cell had the parameter. LiteLLM drops some of them by itself."""
    carriers = CARRIERS.get(scenario)
    return carriers is None or any(carriers & set(names_of(exchange.request)) for exchange in exchanges)


def names_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from names_of(member)
    elif isinstance(value, list):
        for item in value:
            yield from names_of(item)
    elif value in {"json_object", "application/json"}:
        yield value


def options_of(job: Job) -> dict[str, Any]:
    return litellm_client.settings(job.route, job.model, job.key)


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


@dataclass(frozen=True)
class Answer:
    """Answer of either protocol. `history` is what goes back as the assistant's turn."""

    text: str
    calls: list[tuple[str, str]]
    history: list[Any]
    tokens: int
    pieces: int


# One request on either protocol. `options` are those of chat completions.


def ask(job: Job, messages: list[Any], stream: bool = False, dump: bool = False, **options: Any) -> Answer:
    send = ask_responses if job.route == "responses" else ask_chat
    answer = send(job, messages, stream, dump, **options)
    check_used(answer.tokens)
    if stream and not answer.calls:
        check_pieces(answer.pieces)
    return answer


def ask_chat(job: Job, messages: list[Any], stream: bool, dump: bool, **options: Any) -> Answer:
    pieces = 0
    if stream:
        chunks = list(
            litellm.completion(
                **options_of(job), messages=messages, stream=True, stream_options={"include_usage": True}, **options
            )
        )
        pieces = sum(1 for chunk in chunks if chunk.choices and chunk.choices[0].delta.content)
        response: Any = litellm.stream_chunk_builder(chunks, messages=messages)
    else:
        response = litellm.completion(**options_of(job), messages=messages, **options)
    assert len(response.choices) == options.get("n", 1)
    message = response.choices[0].message
    return Answer(
        text=message.content or "",
        calls=[(tool_call.id, tool_call.function.arguments) for tool_call in message.tool_calls or []],
        history=[message.model_dump() if dump else message],
        tokens=response.usage.completion_tokens,
        pieces=pieces,
    )


def ask_responses(job: Job, messages: list[Any], stream: bool, dump: bool, **options: Any) -> Answer:
    settings = options_of(job) | litellm_client.STATELESS | options
    pieces = 0
    if stream:
        events = list(litellm.responses(input=messages, stream=True, **settings))
        pieces = sum(1 for event in events if event.type == "response.output_text.delta")
        assert events[-1].type == "response.completed"
        response: Any = events[-1].response
    else:
        response = litellm.responses(input=messages, **settings)
    calls = [item for item in response.output if item.type == "function_call"]
    return Answer(
        text=litellm_client.output_text(response),
        calls=[(item.call_id, item.arguments) for item in calls],
        history=[item.model_dump() if dump else item for item in response.output],
        tokens=response.usage.output_tokens,
        pieces=pieces,
    )


def tool_of(job: Job) -> Any:
    return litellm_client.RESPONSES_TOOL if job.route == "responses" else litellm_client.TOOL


def result_of(job: Job, call_id: str, content: str) -> Any:
    if job.route == "responses":
        return {"type": "function_call_output", "call_id": call_id, "output": content}
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def tool_loop(job: Job, prompt: str = WEATHER, first: dict[str, Any] = {}, **options: Any) -> list[tuple[str, str]]:
    messages = [user(prompt)]
    answer = ask(job, messages, tools=[tool_of(job)], **first, **options)
    assert answer.calls, "no tool call"
    messages += answer.history
    messages += [result_of(job, call_id, get_weather(**json.loads(text))) for call_id, text in answer.calls]
    check_final(ask(job, messages, tools=[tool_of(job)], **options).text)
    return answer.calls


def json_schema(job: Job) -> dict[str, Any]:
    return {"text_format": Person} if job.route == "responses" else {"response_format": Person}


def structured(job: Job, stream: bool = False) -> None:
    check_person(json.loads(ask(job, [user(STRUCTURED)], stream, **json_schema(job)).text))


def image(job: Job, stream: bool = False) -> None:
    if job.route == "responses":
        content = [
            {"type": "input_text", "text": IMAGE},
            {"type": "input_image", "image_url": PNG_URL, "detail": "auto"},
        ]
    else:
        content = [{"type": "text", "text": IMAGE}, {"type": "image_url", "image_url": {"url": PNG_URL}}]
    check_text(ask(job, [user(content)], stream).text)


def turns(job: Job, stream: bool = False, amount: int = 3) -> None:
    messages: list[Any] = []
    for turn in range(amount):
        messages.append(user(f"Turn {turn}."))
        answer = ask(job, messages, stream)
        check_text(answer.text)
        messages += answer.history


def errors(job: Job, stream: bool = False) -> None:
    cases = [
        (Job(job.scenario, job.route, job.model, "sk-service-wrong"), HELLO, (litellm.AuthenticationError,)),
        (job, "[[status 429 retry-after 1]] Say hello.", (litellm.RateLimitError,)),
        (job, "[[status 500]] Say hello.", (litellm.BadGatewayError, litellm.APIConnectionError)),
    ]
    for own, prompt, expected in cases:
        try:
            ask(own, [user(prompt)], stream)
        except (*expected, litellm.exceptions.MidStreamFallbackError) as error:
            # In a stream LiteLLM wraps the error of its own class.
            assert isinstance(getattr(error, "original_exception", error), expected)
            continue
        raise AssertionError(f"no error for {prompt}")


def parallel_tools(job: Job) -> None:
    calls = tool_loop(job, "What is the weather in Paris and in Rome?")
    assert len(calls) == 2, f"{len(calls)} calls"


def one_tool_at_a_time(job: Job) -> None:
    tool_loop(job, parallel_tool_calls=False)


def forced_tool(job: Job) -> None:
    tool_loop(job, first={"tool_choice": "required"})


def json_object(job: Job) -> None:
    kind = {"type": "json_object"}
    option: dict[str, Any] = {"text": {"format": kind}} if job.route == "responses" else {"response_format": kind}
    text = ask(job, [user(STRUCTURED)], **option).text
    assert not was_sent("json_object") or isinstance(json.loads(text), dict)


def stop(job: Job) -> None:
    answer = ask(job, [user("Count: one two three")], stop=["two"])
    assert "two" not in answer.text or not was_sent("stop")


def cache_control(job: Job) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    kind = "input_text" if job.route == "responses" else "text"
    system = {"role": "system", "content": [{"type": kind, "text": "Be brief. " * 2000, **mark}]}
    messages = [system, user([{"type": kind, "text": HELLO, **mark}])]
    check_text(ask(job, messages, tools=[{**tool_of(job), **mark}], tool_choice="none").text)


def long_history(job: Job) -> None:
    """Twenty turns, each with a tool call, all sent back."""
    messages: list[Any] = []
    for city in ["Paris", "Rome", "London", "Berlin"] * 5:
        messages.append(user(f"And in {city}?"))
        answer = ask(job, messages, tools=[tool_of(job)], dump=True)
        messages += answer.history
        messages += [result_of(job, call_id, get_weather(**json.loads(text))) for call_id, text in answer.calls]
        answer = ask(job, messages, tools=[tool_of(job)], dump=True)
        check_text(answer.text)
        messages += answer.history


def with_options(**options: Any) -> Callable[[Job], None]:
    return lambda job: check_text(ask(job, [user(HELLO)], **options).text)


def labelled(**options: Any) -> Callable[[Job], None]:
    """On chat LiteLLM keeps these for itself, or for the models of its tables, unless they are in `extra_body`."""
    return lambda job: with_options(**({"extra_body": options} if job.route == "chat" else options))(job)


def reasoning_effort(job: Job) -> None:
    effort: Any = {"reasoning": {"effort": "high"}} if job.route == "responses" else {"reasoning_effort": "high"}
    check_text(ask(job, [user(HELLO)], **effort).text)


SCENARIOS: dict[str, Callable[[Job], Any]] = {
    "text": lambda job: check_text(ask(job, [user(HELLO)]).text),
    "text_stream": lambda job: check_text(ask(job, [user(HELLO)], stream=True).text),
    "tools": lambda job: tool_loop(job),
    "tools_stream": lambda job: tool_loop(job, stream=True),
    "tools_dump": lambda job: tool_loop(job, dump=True),
    "structured": structured,
    "structured_stream": lambda job: structured(job, stream=True),
    "image": image,
    "image_stream": lambda job: image(job, stream=True),
    "turns": turns,
    "turns_stream": lambda job: turns(job, stream=True),
    "errors": errors,
    "errors_stream": lambda job: errors(job, stream=True),
    "parallel_tools": parallel_tools,
    "parallel_tool_calls_false": one_tool_at_a_time,
    "tool_choice_required": forced_tool,
    "json_object": json_object,
    "stop": stop,
    "n": with_options(n=2),
    "cache_control": cache_control,
    "long_history": long_history,
    "temperature": with_options(temperature=0.2),
    "temperature_top_p": with_options(temperature=0.2, top_p=0.9),
    "metadata": labelled(metadata={"purpose": "suite"}),
    "user": labelled(user="user-1"),
    "reasoning_effort": reasoning_effort,
}


async def result_of_cell(scenario: str, route: str, model: str) -> tuple[str, str]:
    """Returns the word of the table, and a deviation or nothing."""
    refusal = REFUSALS.get((route, model, scenario))
    exchanges.clear()
    try:
        await call(SCENARIOS[scenario], Job(scenario, route, model, GATEWAY_KEY))
    except Exception as error:
        by_client = isinstance(error, litellm.UnsupportedParamsError) and not exchanges
        status = "client" if by_client else status_of(error)
        if refusal is not None and refusal.status == status:
            return "refused", ""
        message = re.sub(r"\s+", " ", f"{type(error).__name__} {status}: {error}")[:300]
        return "FAIL", message
    if refusal is not None:
        return "FAIL", f"passes, although a refusal is expected: {refusal.source}"
    return "pass" if was_sent(scenario) else "dropped", ""


async def main() -> int:
    for (route, model, scenario), refusal in REFUSALS.items():
        print(f"expected refusal: {route} {model} {scenario}: {refusal.status}, {refusal.source}")
    titles = [f"{route} {model}" for route, model in COLUMNS]
    print("\n" + "  ".join([" " * 25, *titles]))
    deviations, counts = [], {"pass": 0, "refused": 0, "dropped": 0, "FAIL": 0}
    for scenario in SCENARIOS:
        words = []
        for (route, model), title in zip(COLUMNS, titles):
            word, deviation = await result_of_cell(scenario, route, model)
            counts[word] += 1
            words.append(word.ljust(len(title)))
            if deviation:
                deviations.append(f"{route} {model} {scenario}: {deviation}")
        print("  ".join([scenario.ljust(25), *words]).rstrip(), flush=True)
    print("\n" + "\n".join(deviations))
    print(
        f"{counts['pass']} pass, {counts['refused']} refused as expected, "
        f"{counts['dropped']} pass without the parameter, which LiteLLM drops, {counts['FAIL']} fail"
    )
    return 1 if deviations else 0


if __name__ == "__main__":
    litellm.suppress_debug_info = True
    sys.exit(asyncio.run(main()))
