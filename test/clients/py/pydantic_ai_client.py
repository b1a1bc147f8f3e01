import base64
from typing import Any

from anthropic import AsyncAnthropic
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from suite import (
    GATEWAY_KEY,
    GATEWAY_URL,
    HELLO,
    IMAGE,
    PNG,
    STRUCTURED,
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
def chat_model(name: str, key: str = GATEWAY_KEY) -> OpenAIChatModel:
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=f"{GATEWAY_URL}/v1", api_key=key))


def responses_model(name: str, key: str = GATEWAY_KEY) -> OpenAIResponsesModel:
    return OpenAIResponsesModel(name, provider=OpenAIProvider(base_url=f"{GATEWAY_URL}/v1", api_key=key))


def messages_model(name: str, key: str = GATEWAY_KEY) -> AnthropicModel:
    client = AsyncAnthropic(base_url=GATEWAY_URL, api_key=key)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def gemini_model(name: str, key: str = GATEWAY_KEY) -> GoogleModel:
    return GoogleModel(name, provider=GoogleProvider(base_url=GATEWAY_URL, api_key=key))
# end


MODELS = {
    "chat": chat_model,
    "responses": responses_model,
    "messages": messages_model,
    "gemini": gemini_model,
}


def has_status(status: int) -> Any:
    return lambda error: isinstance(error, ModelHTTPError) and error.status_code == status


ERRORS = {
    "error_401": has_status(401),
    "error_402": has_status(402),
    "error_429": has_status(429),
    # A failure of the vendor is 502 at the gateway.
    "error_500": has_status(502),
    "error_context": has_status(400),
}


def agent_of(job: Job, **options: Any) -> Agent[None, Any]:
    return Agent(MODELS[job.route](job.model, job.key), instructions="Be brief.", **options)


async def ask(job: Job, prompt: str) -> Any:
    return await agent_of(job).run(prompt)


async def plain(job: Job) -> None:
    result = await agent_of(job, model_settings={"temperature": 0, "seed": 7}).run(HELLO)
    check_text(result.output)
    check_used(result.usage.total_tokens)


async def stream(job: Job) -> None:
    async with agent_of(job).run_stream(HELLO) as result:
        pieces = [piece async for piece in result.stream_text(delta=True, debounce_by=None)]
    check_pieces(len(pieces))
    check_text("".join(pieces))
    check_used(result.usage.total_tokens)


async def tools(job: Job) -> None:
    """The client's own loop."""
    check_final((await agent_of(job, tools=[get_weather]).run(WEATHER)).output)


async def tools_dump(job: Job) -> None:
    """A later run takes the history of the loop as JSON."""
    agent = agent_of(job, tools=[get_weather])
    first = await agent.run(WEATHER)
    history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    check_text((await agent.run("Thanks.", message_history=history)).output)


async def structured(job: Job) -> None:
    """The default mode, which is a tool."""
    check_person((await agent_of(job, output_type=Person).run(STRUCTURED)).output)


async def image(job: Job) -> None:
    content = [IMAGE, BinaryContent(base64.b64decode(PNG), media_type="image/png")]
    check_text((await agent_of(job).run(content)).output)


async def turns(job: Job) -> None:
    history: Any = []
    for prompt in TURNS:
        result = await agent_of(job).run(prompt, message_history=history)
        check_text(result.output)
        history = result.all_messages()


scenarios = {
    "plain": plain,
    "stream": stream,
    "tools": tools,
    "tools_dump": tools_dump,
    "structured": structured,
    "image": image,
    "turns": turns,
    **errors_of(ask, ERRORS),
}

if __name__ == "__main__":
    run_scenarios({route: scenarios for route in MODELS})
