import json
import os
from typing import Any

# Prices of models would be downloaded otherwise.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import openai

from suite import (
    GATEWAY_KEY,
    GATEWAY_URL,
    HELLO,
    IMAGE,
    PNG_URL,
    STRUCTURED,
    TOOL_DESCRIPTION,
    TOOL_NAME,
    TOOL_PARAMETERS,
    TURNS,
    WEATHER,
    Job,
    Person,
    check_final,
    check_person,
    check_pieces,
    check_text,
    check_used,
    errors_of,
    get_weather,
    run_scenarios,
    status_of,
)

# set-up
PREFIXES = {"chat": "openai", "responses": "openai", "messages": "anthropic", "gemini": "gemini"}
BASES = {
    "openai": f"{GATEWAY_URL}/v1",
    "anthropic": GATEWAY_URL,
    "gemini": f"{GATEWAY_URL}/v1beta",
}


def settings(route: str, model: str, key: str = GATEWAY_KEY) -> dict:
    prefix = PREFIXES[route]
    return {"model": f"{prefix}/{model}", "api_base": BASES[prefix], "api_key": key}
# end


ERRORS = {
    "error_401": lambda error: isinstance(error, litellm.AuthenticationError),
    "error_402": lambda error: isinstance(error, openai.APIError) and status_of(error) == 402,
    "error_429": lambda error: isinstance(error, litellm.RateLimitError),
    # The gateway's 502 has no class of its own on the route gemini.
    "error_500": lambda error: isinstance(error, (litellm.BadGatewayError, litellm.APIConnectionError)),
    "error_context": lambda error: isinstance(error, litellm.ContextWindowExceededError),
}

TOOL: Any = {
    "type": "function",
    "function": {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "parameters": TOOL_PARAMETERS},
}


def settings_of(job: Job) -> dict[str, Any]:
    return settings(job.route, job.model, job.key)


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def run_tool(arguments: str) -> str:
    return get_weather(**json.loads(arguments))


# Chat completions, translated by the client on the routes messages and gemini


def complete(job: Job, prompt: str) -> Any:
    return litellm.completion(**settings_of(job), messages=[user(prompt)])


def plain(job: Job) -> None:
    response = complete(job, HELLO)
    check_text(response.choices[0].message.content)
    check_used(response.usage.total_tokens)


def stream(job: Job) -> None:
    chunks = list(
        litellm.completion(
            **settings_of(job), messages=[user(HELLO)], stream=True, stream_options={"include_usage": True}
        )
    )
    check_pieces(sum(1 for chunk in chunks if chunk.choices and chunk.choices[0].delta.content))
    response: Any = litellm.stream_chunk_builder(chunks)
    check_text(response.choices[0].message.content)
    assert response.choices[0].finish_reason == "stop"
    check_used(response.usage.total_tokens)


def tool_loop(job: Job, dump: bool) -> None:
    messages: list[Any] = [user(WEATHER)]
    first: Any = litellm.completion(**settings_of(job), messages=messages, tools=[TOOL])
    message = first.choices[0].message
    messages.append(message.model_dump() if dump else message)
    for call in message.tool_calls:
        content = run_tool(call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    second: Any = litellm.completion(**settings_of(job), messages=messages, tools=[TOOL])
    check_final(second.choices[0].message.content)


def structured(job: Job) -> None:
    response: Any = litellm.completion(
        **settings_of(job), messages=[user(STRUCTURED)], response_format=Person
    )
    check_person(json.loads(response.choices[0].message.content))


def image(job: Job) -> None:
    content = [{"type": "text", "text": IMAGE}, {"type": "image_url", "image_url": {"url": PNG_URL}}]
    response: Any = litellm.completion(**settings_of(job), messages=[user(content)])
    check_text(response.choices[0].message.content)


def turns(job: Job) -> None:
    messages: list[Any] = []
    for prompt in TURNS:
        messages.append(user(prompt))
        response: Any = litellm.completion(**settings_of(job), messages=messages)
        check_text(response.choices[0].message.content)
        messages.append(response.choices[0].message)


# Responses

RESPONSES_TOOL: Any = {
    "type": "function",
    "name": TOOL_NAME,
    "description": TOOL_DESCRIPTION,
    "parameters": TOOL_PARAMETERS,
    "strict": True,
}
STATELESS: Any = {"store": False, "include": ["reasoning.encrypted_content"]}


def output_text(response: Any) -> str:
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    return "".join(part.text for part in parts if part.type == "output_text")


def respond(job: Job, prompt: str) -> Any:
    return litellm.responses(**settings_of(job), input=prompt)


def responses_plain(job: Job) -> None:
    response = respond(job, HELLO)
    check_text(output_text(response))
    check_used(response.usage.total_tokens)


def responses_stream(job: Job) -> None:
    events = list(litellm.responses(**settings_of(job), input=HELLO, stream=True))
    check_pieces(sum(1 for event in events if event.type == "response.output_text.delta"))
    last: Any = events[-1]
    assert last.type == "response.completed"
    check_text(output_text(last.response))
    check_used(last.response.usage.total_tokens)


def responses_tool_loop(job: Job, dump: bool) -> None:
    history: list[Any] = [user(WEATHER)]
    first: Any = litellm.responses(**settings_of(job), input=history, tools=[RESPONSES_TOOL], **STATELESS)
    for item in first.output:
        history.append(item.model_dump() if dump else item)
        if item.type == "function_call":
            output = run_tool(item.arguments)
            history.append({"type": "function_call_output", "call_id": item.call_id, "output": output})
    second = litellm.responses(**settings_of(job), input=history, tools=[RESPONSES_TOOL], **STATELESS)
    check_final(output_text(second))


def responses_structured(job: Job) -> None:
    response = litellm.responses(**settings_of(job), input=STRUCTURED, text_format=Person)
    check_person(json.loads(output_text(response)))


def responses_image(job: Job) -> None:
    content = [
        {"type": "input_text", "text": IMAGE},
        {"type": "input_image", "image_url": PNG_URL, "detail": "auto"},
    ]
    check_text(output_text(litellm.responses(**settings_of(job), input=[user(content)])))


def responses_turns(job: Job) -> None:
    history: list[Any] = []
    for prompt in TURNS:
        history.append(user(prompt))
        response: Any = litellm.responses(**settings_of(job), input=history, **STATELESS)
        check_text(output_text(response))
        history += response.output


completions = {
    "plain": plain,
    "stream": stream,
    "tools": lambda job: tool_loop(job, dump=False),
    "tools_dump": lambda job: tool_loop(job, dump=True),
    "structured": structured,
    "image": image,
    "turns": turns,
    **errors_of(complete, ERRORS),
}

routes = {
    "chat": completions,
    "messages": completions,
    "gemini": completions,
    "responses": {
        "plain": responses_plain,
        "stream": responses_stream,
        "tools": lambda job: responses_tool_loop(job, dump=False),
        "tools_dump": lambda job: responses_tool_loop(job, dump=True),
        "structured": responses_structured,
        "image": responses_image,
        "turns": responses_turns,
        **errors_of(respond, ERRORS),
    },
}

if __name__ == "__main__":
    run_scenarios(routes)
