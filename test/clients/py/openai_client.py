import json
import os
from typing import Any

import openai
from openai import OpenAI

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
)

# set-up
os.environ["OPENAI_BASE_URL"] = f"{GATEWAY_URL}/v1"
os.environ["OPENAI_API_KEY"] = GATEWAY_KEY
client = OpenAI()
# end

ERRORS = {
    "error_401": lambda error: isinstance(error, openai.AuthenticationError),
    "error_402": lambda error: isinstance(error, openai.APIStatusError) and error.status_code == 402,
    "error_429": lambda error: isinstance(error, openai.RateLimitError) and "retry-after" in error.response.headers,
    "error_500": lambda error: isinstance(error, openai.InternalServerError),
    "error_context": lambda error: isinstance(error, openai.BadRequestError) and error.code == "context_length_exceeded",
}


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def run_tool(arguments: str) -> str:
    return get_weather(**json.loads(arguments))


# Chat completions

CHAT_TOOL: Any = {
    "type": "function",
    "function": {
        "name": TOOL_NAME,
        "description": TOOL_DESCRIPTION,
        "parameters": TOOL_PARAMETERS,
        "strict": True,
    },
}


def complete(job: Job, prompt: str) -> Any:
    completions = client.with_options(api_key=job.key).chat.completions
    return completions.create(model=job.model, messages=[user(prompt)])


def chat_plain(job: Job) -> None:
    completion = complete(job, HELLO)
    check_text(completion.choices[0].message.content)
    check_used(completion.usage.total_tokens)


def chat_stream(job: Job) -> None:
    pieces = 0
    with client.chat.completions.stream(
        model=job.model, messages=[user(HELLO)], stream_options={"include_usage": True}
    ) as stream:
        for event in stream:
            pieces += event.type == "content.delta"
        completion = stream.get_final_completion()
    check_pieces(pieces)
    check_text(completion.choices[0].message.content)
    assert completion.choices[0].finish_reason == "stop"
    check_used(completion.usage and completion.usage.total_tokens)


def chat_tool_loop(job: Job, dump: bool) -> None:
    messages: list[Any] = [user(WEATHER)]
    first = client.chat.completions.create(model=job.model, messages=messages, tools=[CHAT_TOOL])
    message = first.choices[0].message
    messages.append(message.model_dump() if dump else message)
    for tool_call in message.tool_calls or []:
        assert tool_call.type == "function"
        content = run_tool(tool_call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": tool_call.id, "content": content})
    second = client.chat.completions.create(model=job.model, messages=messages, tools=[CHAT_TOOL])
    check_final(second.choices[0].message.content)


def chat_structured(job: Job) -> None:
    completion = client.chat.completions.parse(
        model=job.model, messages=[user(STRUCTURED)], response_format=Person
    )
    check_person(completion.choices[0].message.parsed)


def chat_image(job: Job) -> None:
    content = [{"type": "text", "text": IMAGE}, {"type": "image_url", "image_url": {"url": PNG_URL}}]
    completion = client.chat.completions.create(model=job.model, messages=[user(content)])
    check_text(completion.choices[0].message.content)


def chat_turns(job: Job) -> None:
    messages: list[Any] = []
    for prompt in TURNS:
        messages.append(user(prompt))
        message = client.chat.completions.create(model=job.model, messages=messages).choices[0].message
        check_text(message.content)
        messages.append(message.model_dump())


# Responses

RESPONSES_TOOL: Any = {
    "type": "function",
    "name": TOOL_NAME,
    "description": TOOL_DESCRIPTION,
    "parameters": TOOL_PARAMETERS,
    "strict": True,
}


def respond(job: Job, prompt: str) -> Any:
    return client.with_options(api_key=job.key).responses.create(model=job.model, input=prompt)


def responses_plain(job: Job) -> None:
    response = respond(job, HELLO)
    check_text(response.output_text)
    check_used(response.usage.total_tokens)


def responses_stream(job: Job) -> None:
    pieces = 0
    with client.responses.stream(model=job.model, input=HELLO) as stream:
        for event in stream:
            pieces += event.type == "response.output_text.delta"
        response = stream.get_final_response()
    check_pieces(pieces)
    check_text(response.output_text)
    check_used(response.usage and response.usage.total_tokens)


def responses_tool_loop(job: Job, dump: bool) -> None:
    history: list[Any] = [user(WEATHER)]
    options: Any = {"tools": [RESPONSES_TOOL], "store": False, "include": ["reasoning.encrypted_content"]}
    first = client.responses.create(model=job.model, input=history, **options)
    for item in first.output:
        history.append(item.model_dump() if dump else item)
        if item.type == "function_call":
            output = run_tool(item.arguments)
            history.append({"type": "function_call_output", "call_id": item.call_id, "output": output})
    second = client.responses.create(model=job.model, input=history, **options)
    check_final(second.output_text)


def responses_structured(job: Job) -> None:
    response = client.responses.parse(model=job.model, input=STRUCTURED, text_format=Person)
    check_person(response.output_parsed)


def responses_image(job: Job) -> None:
    content = [
        {"type": "input_text", "text": IMAGE},
        {"type": "input_image", "image_url": PNG_URL, "detail": "auto"},
    ]
    check_text(client.responses.create(model=job.model, input=[user(content)]).output_text)


def responses_turns(job: Job) -> None:
    history: list[Any] = []
    for prompt in TURNS:
        history.append(user(prompt))
        response = client.responses.create(
            model=job.model, input=history, store=False, include=["reasoning.encrypted_content"]
        )
        check_text(response.output_text)
        history += [item.model_dump() for item in response.output]


routes = {
    "chat": {
        "plain": chat_plain,
        "stream": chat_stream,
        "tools": lambda job: chat_tool_loop(job, dump=False),
        "tools_dump": lambda job: chat_tool_loop(job, dump=True),
        "structured": chat_structured,
        "image": chat_image,
        "turns": chat_turns,
        **errors_of(complete, ERRORS),
    },
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
