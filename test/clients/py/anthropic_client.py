import os
from typing import Any

import anthropic
from anthropic import Anthropic, beta_tool

from suite import (
    GATEWAY_KEY,
    GATEWAY_URL,
    HELLO,
    IMAGE,
    PNG,
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
os.environ["ANTHROPIC_BASE_URL"] = GATEWAY_URL
os.environ["ANTHROPIC_API_KEY"] = GATEWAY_KEY
client = Anthropic()
# end

CAP = 1024
TOOL: Any = {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "input_schema": TOOL_PARAMETERS}

ERRORS = {
    "error_401": lambda error: isinstance(error, anthropic.AuthenticationError),
    "error_402": lambda error: isinstance(error, anthropic.APIStatusError) and error.status_code == 402,
    "error_429": lambda error: isinstance(error, anthropic.RateLimitError) and "retry-after" in error.response.headers,
    "error_500": lambda error: isinstance(error, anthropic.InternalServerError),
    "error_context": lambda error: isinstance(error, anthropic.BadRequestError) and "too long" in str(error),
}


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def ask(job: Job, prompt: str) -> Any:
    messages = client.with_options(api_key=job.key).messages
    return messages.create(model=job.model, max_tokens=CAP, messages=[user(prompt)])


def plain(job: Job) -> None:
    counted = client.messages.count_tokens(model=job.model, messages=[user(HELLO)])
    message = ask(job, HELLO)
    check_text(text_of(message))
    check_used(message.usage.output_tokens)
    check_used(counted.input_tokens)


def stream(job: Job) -> None:
    with client.messages.stream(model=job.model, max_tokens=CAP, messages=[user(HELLO)]) as events:
        pieces = sum(1 for _ in events.text_stream)
        message = events.get_final_message()
    check_pieces(pieces)
    check_text(text_of(message))
    assert message.stop_reason == "end_turn"
    check_used(message.usage.output_tokens)


def tool_runner(job: Job) -> None:
    """The SDK's own loop, which sends its objects back."""
    runner = client.beta.messages.tool_runner(
        model=job.model, max_tokens=CAP, messages=[user(WEATHER)], tools=[beta_tool(get_weather)]
    )
    check_final(text_of(runner.until_done()))


def tools_dump(job: Job) -> None:
    messages: list[Any] = [user(WEATHER)]
    first = client.messages.create(model=job.model, max_tokens=CAP, messages=messages, tools=[TOOL])
    messages.append({"role": "assistant", "content": [block.model_dump() for block in first.content]})
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": get_weather(**block.input)}
        for block in first.content
        if block.type == "tool_use"
    ]
    messages.append(user(results))
    second = client.messages.create(model=job.model, max_tokens=CAP, messages=messages, tools=[TOOL])
    check_final(text_of(second))


def structured(job: Job) -> None:
    message = client.messages.parse(
        model=job.model, max_tokens=CAP, messages=[user(STRUCTURED)], output_format=Person
    )
    check_person(message.parsed_output)


def image(job: Job) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    content = [{"type": "image", "source": source}, {"type": "text", "text": IMAGE}]
    check_text(text_of(client.messages.create(model=job.model, max_tokens=CAP, messages=[user(content)])))


def turns(job: Job) -> None:
    messages: list[Any] = []
    for prompt in TURNS:
        messages.append(user(prompt))
        message = client.messages.create(model=job.model, max_tokens=CAP, messages=messages)
        check_text(text_of(message))
        messages.append({"role": message.role, "content": message.content})


routes = {
    "messages": {
        "plain": plain,
        "stream": stream,
        "tools": tool_runner,
        "tools_dump": tools_dump,
        "structured": structured,
        "image": image,
        "turns": turns,
        **errors_of(ask, ERRORS),
    }
}

if __name__ == "__main__":
    run_scenarios(routes)
