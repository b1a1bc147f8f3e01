from typing import Any

import openai
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from suite import (
    GATEWAY_KEY,
    GATEWAY_URL,
    HELLO,
    IMAGE,
    PNG_URL,
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
def chat_model(name: str, key: str = GATEWAY_KEY) -> OpenAIChatCompletionsModel:
    client = AsyncOpenAI(base_url=f"{GATEWAY_URL}/v1", api_key=key)
    return OpenAIChatCompletionsModel(model=name, openai_client=client)


def responses_model(name: str, key: str = GATEWAY_KEY) -> OpenAIResponsesModel:
    client = AsyncOpenAI(base_url=f"{GATEWAY_URL}/v1", api_key=key)
    return OpenAIResponsesModel(model=name, openai_client=client)


# Traces go to OpenAI otherwise.
set_tracing_disabled(True)
# end

MODELS = {"chat": chat_model, "responses": responses_model}

ERRORS = {
    "error_401": lambda error: isinstance(error, openai.AuthenticationError),
    "error_402": lambda error: isinstance(error, openai.APIStatusError) and error.status_code == 402,
    "error_429": lambda error: isinstance(error, openai.RateLimitError) and "retry-after" in error.response.headers,
    "error_500": lambda error: isinstance(error, openai.InternalServerError),
    "error_context": lambda error: isinstance(error, openai.BadRequestError) and error.code == "context_length_exceeded",
}


def agent_of(job: Job, **options: Any) -> Agent:
    settings = ModelSettings(store=False, **options.pop("settings", {}))
    if job.route == "responses":
        settings.response_include = ["reasoning.encrypted_content"]
    return Agent(
        name="Assistant",
        instructions="Be brief.",
        model=MODELS[job.route](job.model, job.key),
        model_settings=settings,
        **options,
    )


async def ask(job: Job, prompt: str) -> Any:
    return await Runner.run(agent_of(job), prompt)


async def plain(job: Job) -> None:
    agent = agent_of(job, settings={"temperature": 0, "metadata": {"purpose": "suite"}})
    result = await Runner.run(agent, HELLO)
    check_text(result.final_output)
    check_used(result.context_wrapper.usage.total_tokens)


async def stream(job: Job) -> None:
    result = Runner.run_streamed(agent_of(job, settings={"include_usage": True}), HELLO)
    pieces = 0
    async for event in result.stream_events():
        pieces += event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    check_pieces(pieces)
    check_text(result.final_output)
    check_used(result.context_wrapper.usage.total_tokens)


async def tools(job: Job) -> None:
    """The client's own loop."""
    result = await Runner.run(agent_of(job, tools=[function_tool(get_weather)]), WEATHER)
    check_final(result.final_output)


async def tools_dump(job: Job) -> None:
    """The first run stops at the tool; its history goes back as the client's own JSON."""
    options: Any = {"tools": [function_tool(get_weather)]}
    first = await Runner.run(agent_of(job, tool_use_behavior="stop_on_first_tool", **options), WEATHER)
    second = await Runner.run(agent_of(job, **options), first.to_input_list())
    check_final(second.final_output)


async def structured(job: Job) -> None:
    check_person((await Runner.run(agent_of(job, output_type=Person), STRUCTURED)).final_output)


async def image(job: Job) -> None:
    content = [
        {"type": "input_image", "image_url": PNG_URL, "detail": "auto"},
        {"type": "input_text", "text": IMAGE},
    ]
    messages: Any = [{"role": "user", "content": content}]
    check_text((await Runner.run(agent_of(job), messages)).final_output)


async def turns(job: Job) -> None:
    history: Any = []
    for prompt in TURNS:
        result = await Runner.run(agent_of(job), [*history, {"role": "user", "content": prompt}])
        check_text(result.final_output)
        history = result.to_input_list()


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
    run_scenarios({"chat": scenarios, "responses": scenarios})
