from typing import Any

import anthropic
from langchain_anthropic import ChatAnthropic

from langchain_scenarios import scenarios_of
from suite import GATEWAY_KEY, GATEWAY_URL, Job, run_scenarios


# set-up
def chat_model(model: str, api_key: str = GATEWAY_KEY, **options: Any) -> ChatAnthropic:
    return ChatAnthropic(model=model, base_url=GATEWAY_URL, api_key=api_key, **options)
# end


def messages(job: Job, **options: Any) -> ChatAnthropic:
    return chat_model(job.model, job.key, **options)


def is_unpaid(error: Any) -> bool:
    return isinstance(error, anthropic.APIStatusError) and error.status_code == 402


if __name__ == "__main__":
    run_scenarios({"messages": scenarios_of(messages, ["json_schema", "function_calling"], is_unpaid, {})})
