"""Line protocol of the client programs, and the material of their scenarios."""

import asyncio
import inspect
import json
import os
import re
import sys
import traceback
from dataclasses import dataclass
from typing import Any, Callable

from pydantic import BaseModel

GATEWAY_URL = os.environ["GATEWAY_URL"]
GATEWAY_KEY = os.environ["GATEWAY_KEY"]


@dataclass(frozen=True)
class Job:
    scenario: str
    route: str
    model: str
    key: str = GATEWAY_KEY


class Person(BaseModel):
    name: str
    age: int


# The simulated vendors call the first tool with the city that the prompt names.
HELLO = "Say hello."
WEATHER = os.environ.get("WEATHER_PROMPT", "What is the weather in Paris?")
STRUCTURED = "Give me a person, as JSON."
IMAGE = "What do you see?"
TURNS = ("One.", "Two.", "Three.")

ERROR_PROMPTS = {
    "error_401": HELLO,
    "error_402": HELLO,
    "error_429": "[[status 429 retry-after 1]] Say hello.",
    "error_500": "[[status 500]] Say hello.",
    "error_context": "word " * 1_100_000,
}

# A PNG of one pixel.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PNG_URL = f"data:image/png;base64,{PNG}"

TOOL_NAME = "get_weather"
TOOL_DESCRIPTION = "Current weather of a city"
TOOL_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def get_weather(city: str) -> str:
    """Current weather of a city"""
    return f"Sunny in {city}, 21 degrees"


def check_text(text: Any) -> None:
    assert isinstance(text, str) and text, f"no text: {text!r}"


def check_final(text: Any) -> None:
    assert isinstance(text, str) and re.search("Sunny in Paris", text), f"not the final text: {text!r}"


def check_used(tokens: int | None) -> None:
    assert tokens is not None and tokens > 0, "no usage"


def check_pieces(pieces: int) -> None:
    assert pieces > 1, f"{pieces} pieces"


def check_person(person: Any) -> None:
    Person.model_validate(person.model_dump() if isinstance(person, BaseModel) else person)


Ask = Callable[[Job, str], Any]
Scenario = Callable[[Job], Any]


def errors_of(ask: Ask, is_right: dict[str, Callable[[Any], bool]]) -> dict[str, Scenario]:
    """Error scenarios. `ask(job, prompt)` sends one request; `is_right` accepts the client's own error class."""

    def scenario(name: str) -> Scenario:
        async def run(job: Job) -> None:
            try:
                await call(ask, job, ERROR_PROMPTS[name])
            except Exception as error:
                if not is_right[name](error):
                    raise
                return
            raise AssertionError("no error")

        return run

    return {name: scenario(name) for name in ERROR_PROMPTS}


async def call(function: Callable[..., Any], *args: Any) -> Any:
    """Synchronous clients run in a thread, as in a program without an event loop."""
    if inspect.iscoroutinefunction(function):
        return await function(*args)
    return await asyncio.to_thread(function, *args)


def status_of(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    return status if isinstance(status, int) else None


async def run_job(routes: dict[str, dict[str, Scenario]], job: Job) -> dict[str, Any]:
    scenario = routes.get(job.route, {}).get(job.scenario)
    if scenario is None:
        return {"ok": False, "error": "The program lacks this scenario."}
    try:
        await call(scenario, job)
        return {"ok": True}
    except Exception as error:
        traceback.print_exc()
        status = status_of(error)
        message = f"{type(error).__name__}: {error}"
        return {"ok": False, "error": message} | ({} if status is None else {"status": status})


async def run_lines(routes: dict[str, dict[str, Scenario]]) -> None:
    # Clients print to stdout, too.
    results, sys.stdout = sys.stdout, sys.stderr
    while line := await asyncio.to_thread(sys.stdin.readline):
        result = await run_job(routes, Job(**json.loads(line)))
        print(json.dumps(result), file=results, flush=True)


def run_scenarios(routes: dict[str, dict[str, Scenario]]) -> None:
    """Reads scenarios from stdin and writes a result for each. A scenario fails if it raises."""
    asyncio.run(run_lines(routes))
