"""Checks every answer and stream event that the programs of the vendors' SDKs get.

`GATEWAY_URL=... GATEWAY_KEY=... python validate_answers.py` prints the count and every deviation, and ends with 1 if
there is one, if a check could not find one, or if fewer than 700 answers and events were seen.
"""

import asyncio
import os
import sys
from collections import Counter
from typing import Any

from answers import check, is_blind
from recording_proxy import Exchange, start_proxy

exchanges: list[Exchange] = []
# Before the programs are imported: they read it when they are loaded.
os.environ["GATEWAY_URL"] = start_proxy(os.environ["GATEWAY_URL"], exchanges)

import anthropic_client
import google_genai_client
import openai_client
from suite import HELLO, WEATHER, Job, Scenario, run_job

AMOUNT_MIN = 700

CHAT_MODELS = [
    "gpt-4.1-mini",
    "gpt-5.4-mini",
    "gpt-6.2-astra",
    "claude-haiku-4-5",
    "claude-sonnet-5-5",
    "gemini-3.5-flash-lite",
    "gemini-3.1-pro-preview",
]
RESPONSES_MODELS = ["gpt-5.5-pro"]
MESSAGES_MODELS = ["claude-haiku-4-5", "claude-sonnet-5", "claude-sonnet-5-5", "claude-fable-5-2"]
GEMINI_MODELS = ["gemini-3.5-flash-lite", "gemini-3.1-pro-preview", "gemini-4-argon"]

PROGRAMS: list[tuple[dict[str, dict[str, Scenario]], str, list[str]]] = [
    (openai_client.routes, "chat", CHAT_MODELS),
    (openai_client.routes, "responses", RESPONSES_MODELS),
    (anthropic_client.routes, "messages", MESSAGES_MODELS),
    (google_genai_client.routes, "gemini", GEMINI_MODELS),
]

# Prompts that make a simulated vendor end, think, cache or refuse in another way, and a tool call.
PROMPTS = [
    HELLO,
    WEATHER,
    "[[reasoning 20]] Say hello.",
    "[[cached 5]] Say hello.",
    "[[refusal]] Say hello.",
    "[[content-filter]] Say hello.",
    "[[content-filter-after 3]] Say hello.",
    "[[words 40]] Say hello.",
    "[[error-event 2]] Say hello.",
    "[[cut 2]] Say hello.",
]


def probes() -> list[Any]:
    """Requests beyond the scenarios, each with a stream and without one."""
    openai, claude, google = openai_client.client, anthropic_client.client, google_genai_client.client
    found: list[Any] = []
    for prompt in PROMPTS:
        messages: Any = [{"role": "user", "content": prompt}]
        with_tools = prompt == WEATHER
        for model in CHAT_MODELS:
            options: Any = {"tools": [openai_client.CHAT_TOOL]} if with_tools else {}
            body = {"model": model, "messages": messages, "max_completion_tokens": 60, **options}
            found.append(lambda body=body: openai.chat.completions.create(**body))
            usage = {"stream": True, "stream_options": {"include_usage": True}}
            found.append(lambda body=body, usage=usage: list(openai.chat.completions.create(**body, **usage)))
        for model in RESPONSES_MODELS:
            options = {"tools": [openai_client.RESPONSES_TOOL]} if with_tools else {}
            body = {"model": model, "input": prompt, "reasoning": {"summary": "auto"}, **options}
            found.append(lambda body=body: openai.responses.create(**body))
            found.append(lambda body=body: list(openai.responses.create(stream=True, **body)))
        for model in MESSAGES_MODELS:
            options = {"tools": [anthropic_client.TOOL]} if with_tools else {}
            body = {"model": model, "messages": messages, "max_tokens": 60, **options}
            found.append(lambda body=body: claude.messages.create(**body))
            found.append(lambda body=body: list(claude.messages.create(stream=True, **body)))
            counted = {"model": model, "messages": messages}
            found.append(lambda counted=counted: claude.messages.count_tokens(**counted))
        for model in GEMINI_MODELS:
            config: Any = {"tools": [google_genai_client.TOOL]} if with_tools else {}
            config |= {"automatic_function_calling": {"disable": True}}
            body = {"model": model, "contents": prompt, "config": config}
            found.append(lambda body=body: google.models.generate_content(**body))
            found.append(lambda body=body: list(google.models.generate_content_stream(**body)))
    found += [
        lambda: openai.models.list(),
        lambda: openai.models.retrieve(CHAT_MODELS[0]),
        lambda: openai.models.retrieve("unknown"),
        lambda: claude.models.list(),
        lambda: claude.models.retrieve(MESSAGES_MODELS[0]),
        lambda: claude.models.retrieve("unknown"),
        lambda: google.models.get(model=GEMINI_MODELS[0]),
        lambda: google.models.get(model="unknown"),
        lambda: openai.embeddings.create(model="text-embedding-3-small", input=["one", "two"]),
        lambda: openai.embeddings.create(model="text-embedding-3-small", input="one", encoding_format="float"),
        lambda: openai.moderations.create(input="Hello."),
        lambda: openai.moderations.create(model="omni-moderation-latest", input=[HELLO, WEATHER]),
    ]
    return found


async def run_programs() -> list[str]:
    failures = []
    for routes, route, models in PROGRAMS:
        for model in models:
            for scenario in routes[route]:
                # Keys and balances of these are the suite's.
                if scenario in {"error_401", "error_402", "error_context"}:
                    continue
                result = await run_job(routes, Job(scenario, route, model))
                if not result["ok"]:
                    failures.append(f"{route} {model} {scenario}: {result['error'][:200]}")
    for probe in probes():
        try:
            await asyncio.to_thread(probe)
        except Exception:
            # The answer is checked, whatever the SDK makes of it.
            pass
    return failures


def main() -> int:
    failures = asyncio.run(run_programs())
    counts: Counter[str] = Counter()
    blind = 0
    deviations: Counter[str] = Counter()
    for exchange in exchanges:
        for finding in check(exchange):
            counts[finding.where] += 1
            blind += is_blind(exchange, finding)
            for deviation in finding.deviations:
                deviations[f"{exchange.path} {exchange.status} {finding.where}: {deviation}"] += 1
    for name, amount in counts.most_common():
        print(f"{amount:6} {name}")
    for text, amount in deviations.most_common():
        print(f"{amount:6} x {text}")
    for failure in failures:
        print(f"failed scenario: {failure}")
    total = counts.total()
    print(f"{total} answers and events of {len(exchanges)} requests, {len(deviations)} kinds of deviations")
    print(f"{blind} of them would hide an unknown member")
    return 1 if deviations or failures or blind or total < AMOUNT_MIN else 0


if __name__ == "__main__":
    sys.exit(main())
