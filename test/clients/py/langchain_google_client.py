from typing import Any

from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError

from langchain_scenarios import scenarios_of
from suite import GATEWAY_KEY, GATEWAY_URL, Job, run_scenarios


# set-up
def chat_model(model: str, api_key: str = GATEWAY_KEY, **options: Any) -> ChatGoogleGenerativeAI:
    return ChatGoogleGenerativeAI(model=model, base_url=GATEWAY_URL, api_key=api_key, **options)
# end


def gemini(job: Job, **options: Any) -> ChatGoogleGenerativeAI:
    return chat_model(job.model, job.key, **options)


def is_unpaid(error: Any) -> bool:
    return isinstance(error, ChatGoogleGenerativeAIError) and "402" in str(error)


if __name__ == "__main__":
    # The default of six attempts takes half a minute.
    options = {"max_retries": 2}
    run_scenarios(
        {"gemini": scenarios_of(gemini, ["json_schema", "json_mode", "function_calling"], is_unpaid, options)}
    )
