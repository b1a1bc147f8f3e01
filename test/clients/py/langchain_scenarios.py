"""Scenarios of the LangChain packages, which share their interface."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelRateLimitError,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, messages_from_dict, messages_to_dict
from langchain_core.tools import tool

from suite import (
    HELLO,
    IMAGE,
    PNG,
    STRUCTURED,
    TURNS,
    WEATHER,
    Job,
    Person,
    Scenario,
    check_final,
    check_person,
    check_pieces,
    check_text,
    check_used,
    errors_of,
    get_weather,
)

SYSTEM = SystemMessage("Be brief.")


def scenarios_of(
    model_of: Callable[..., BaseChatModel],
    methods: Sequence[str],
    is_unpaid: Callable[[Any], bool],
    error_options: dict[str, Any],
) -> dict[str, Scenario]:
    """`model_of(job, **options)` makes a chat model; `methods` are those of `with_structured_output`."""

    def ask(job: Job, prompt: str) -> AIMessage:
        return model_of(job, **error_options).invoke(prompt)

    def plain(job: Job) -> None:
        message = model_of(job, temperature=0).invoke([SYSTEM, HumanMessage(HELLO)])
        check_text(message.text)
        check_used(message.usage_metadata and message.usage_metadata["total_tokens"])

    def stream(job: Job) -> None:
        chunks = list(model_of(job).stream([SYSTEM, HumanMessage(HELLO)]))
        check_pieces(sum(1 for chunk in chunks if chunk.text))
        whole: Any = chunks[0]
        for chunk in chunks[1:]:
            whole = whole + chunk
        check_text(whole.text)
        check_used(whole.usage_metadata and whole.usage_metadata["total_tokens"])

    def tool_loop(job: Job, dump: bool) -> None:
        weather = tool(get_weather)
        model = model_of(job).bind_tools([weather])
        messages: list[Any] = [SYSTEM, HumanMessage(WEATHER)]
        first: Any = model.invoke(messages)
        messages.append(first)
        messages += [weather.invoke(call) for call in first.tool_calls]
        if dump:
            messages = messages_from_dict(messages_to_dict(messages))
        check_final(model.invoke(messages).text)

    def structured(job: Job) -> None:
        for method in methods:
            schema: Any = Person.model_json_schema() if method == "json_mode" else Person
            model: Any = model_of(job, temperature=0).with_structured_output(schema, method=method)
            result = model.invoke(STRUCTURED)
            # JSON mode leaves the members to the model.
            assert isinstance(result, dict) if method == "json_mode" else check_person(result) is None

    def image(job: Job) -> None:
        picture = {"type": "image", "base64": PNG, "mime_type": "image/png"}
        message = model_of(job).invoke([HumanMessage([{"type": "text", "text": IMAGE}, picture])])
        check_text(message.text)

    def turns(job: Job) -> None:
        messages: list[Any] = [SYSTEM]
        for prompt in TURNS:
            messages.append(HumanMessage(prompt, name="user_1"))
            messages.append(model_of(job).invoke(messages))
            check_text(messages[-1].text)

    return {
        "plain": plain,
        "stream": stream,
        "tools": lambda job: tool_loop(job, dump=False),
        "tools_dump": lambda job: tool_loop(job, dump=True),
        "structured": structured,
        "image": image,
        "turns": turns,
        **errors_of(
            ask,
            {
                "error_401": lambda error: isinstance(error, ModelAuthenticationError),
                "error_402": is_unpaid,
                "error_429": lambda error: isinstance(error, ModelRateLimitError),
                "error_500": lambda error: isinstance(error, ModelAPIError),
                "error_context": lambda error: isinstance(error, ContextOverflowError),
            },
        ),
    }
