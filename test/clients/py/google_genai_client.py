import base64
from typing import Any

from google import genai
from google.genai import errors, types

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
def client_of(key: str) -> genai.Client:
    return genai.Client(api_key=key, http_options={"base_url": GATEWAY_URL})
# end


client = client_of(GATEWAY_KEY)

TOOL = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name=TOOL_NAME, description=TOOL_DESCRIPTION, parameters_json_schema=TOOL_PARAMETERS
        )
    ]
)

ERRORS = {
    "error_401": lambda error: isinstance(error, errors.ClientError) and error.code == 401,
    "error_402": lambda error: isinstance(error, errors.ClientError) and error.code == 402,
    "error_429": lambda error: isinstance(error, errors.ClientError) and error.code == 429,
    "error_500": lambda error: isinstance(error, errors.ServerError),
    "error_context": lambda error: isinstance(error, errors.ClientError) and error.status == "INVALID_ARGUMENT",
}


def ask(job: Job, prompt: str) -> Any:
    # The client closes its connections when it is collected.
    own = client_of(job.key)
    return own.models.generate_content(model=job.model, contents=prompt)


def plain(job: Job) -> None:
    listed = [model.name for model in client.models.list()]
    assert f"models/{job.model}" in listed, listed
    check_used(client.models.count_tokens(model=job.model, contents=HELLO).total_tokens)
    response = ask(job, HELLO)
    check_text(response.text)
    check_used(response.usage_metadata.total_token_count)


def stream(job: Job) -> None:
    pieces = list(client.models.generate_content_stream(model=job.model, contents=HELLO))
    check_pieces(sum(1 for piece in pieces if piece.text))
    usage = pieces[-1].usage_metadata
    check_used(usage and usage.total_token_count)


def tools(job: Job) -> None:
    """The SDK calls the Python function by itself."""
    config = types.GenerateContentConfig(tools=[get_weather])
    check_final(client.models.generate_content(model=job.model, contents=WEATHER, config=config).text)


def tools_dump(job: Job) -> None:
    config = types.GenerateContentConfig(tools=[TOOL])
    contents: list[Any] = [{"role": "user", "parts": [{"text": WEATHER}]}]
    first = client.models.generate_content(model=job.model, contents=contents, config=config)
    contents.append(first.candidates[0].content.model_dump())
    parts = [
        types.Part.from_function_response(name=call.name, response={"result": get_weather(**call.args)}).model_dump()
        for call in first.function_calls
    ]
    contents.append({"role": "user", "parts": parts})
    check_final(client.models.generate_content(model=job.model, contents=contents, config=config).text)


def structured(job: Job) -> None:
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Person)
    check_person(client.models.generate_content(model=job.model, contents=STRUCTURED, config=config).parsed)


def image(job: Job) -> None:
    part = types.Part.from_bytes(data=base64.b64decode(PNG), mime_type="image/png")
    check_text(client.models.generate_content(model=job.model, contents=[part, IMAGE]).text)


def turns(job: Job) -> None:
    chat = client.chats.create(model=job.model)
    for prompt in TURNS:
        check_text(chat.send_message(prompt).text)


routes = {
    "gemini": {
        "plain": plain,
        "stream": stream,
        "tools": tools,
        "tools_dump": tools_dump,
        "structured": structured,
        "image": image,
        "turns": turns,
        **errors_of(ask, ERRORS),
    }
}

if __name__ == "__main__":
    run_scenarios(routes)
