from typing import Any

import openai
from langchain_openai import ChatOpenAI

from langchain_scenarios import scenarios_of
from suite import GATEWAY_KEY, GATEWAY_URL, Job, run_scenarios


# set-up
def chat_model(model: str, api_key: str = GATEWAY_KEY, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model=model, base_url=f"{GATEWAY_URL}/v1", api_key=api_key, **options)
# end


def chat(job: Job, **options: Any) -> ChatOpenAI:
    return chat_model(job.model, job.key, **options)


def responses(job: Job, **options: Any) -> ChatOpenAI:
    stateless: Any = {"store": False, "include": ["reasoning.encrypted_content"]}
    return chat_model(job.model, job.key, use_responses_api=True, **stateless, **options)


def is_unpaid(error: Any) -> bool:
    return isinstance(error, openai.APIStatusError) and error.status_code == 402


METHODS = ["json_schema", "json_mode", "function_calling"]

if __name__ == "__main__":
    run_scenarios(
        {
            "chat": scenarios_of(chat, METHODS, is_unpaid, {}),
            "responses": scenarios_of(responses, METHODS, is_unpaid, {}),
        }
    )
