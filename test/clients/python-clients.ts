import { allScenarios, type Case, type Client, chatModels, nativeModels, type Route } from './client.ts';

type Changes = Parameters<typeof allScenarios>[0];

const venv = (requirements: string): Client['install'] => ({ kind: 'venv', requirements });

type ChatModel = (typeof chatModels)[number];

const chat = (changesOf: (model: ChatModel) => Changes = () => ({})): readonly Case[] =>
  chatModels.map((model) => ({ route: 'chat', model, scenarios: allScenarios(changesOf(model)) }));

const native = (route: Exclude<Route, 'chat'>, changes: Changes = {}): Case => ({
  route,
  model: nativeModels[route],
  scenarios: allScenarios(changes),
});

/** No retries. */
const once = { error_429: { requests: 1 }, error_500: { requests: 1 } };

/** The agent runs twice, and the second run, which continues the history of the first one, calls the tool again. */
const twoLoops = { tools_dump: { requests: 4 } };

/** One request for each tested method of `with_structured_output`. */
const twoMethods = { structured: { requests: 2 } };
const threeMethods = { structured: { requests: 3 } };

/** Fields of a request with `temperature` and `metadata` that the gateway ignores, by model. */
const withMetadata: Readonly<Record<ChatModel, readonly string[]>> = {
  'gpt-5.4-mini': ['metadata', 'temperature'],
  'claude-haiku-4-5': ['metadata'],
  'gemini-3.5-flash-lite': ['metadata'],
};

/** Fields of a request with `temperature` and `seed` that the gateway ignores, by model. */
const withSeed: Readonly<Record<ChatModel, readonly string[]>> = {
  'gpt-5.4-mini': ['seed', 'temperature'],
  'claude-haiku-4-5': ['seed'],
  'gemini-3.5-flash-lite': [],
};

/** Fields of a request with message names that the gateway ignores, by model. Only OpenAI receives the names. */
const withNames: Readonly<Record<ChatModel, readonly string[]>> = {
  'gpt-5.4-mini': [],
  'claude-haiku-4-5': ['messages[].name'],
  'gemini-3.5-flash-lite': ['messages[].name'],
};

/** Clients in Python. Their pins are in `py/<requirements>.txt`, one file per virtual environment. */
export const pythonClients: readonly Client[] = [
  {
    id: 'openai-python',
    title: 'OpenAI SDK for Python',
    install: venv('sdk'),
    packages: ['openai'],
    program: 'py/openai_client.py',
    // https://github.com/openai/openai-python#retries
    retries: { on429: 2, on500: 2 },
    cases: [...chat(), native('responses')],
  },
  {
    id: 'anthropic-python',
    title: 'Anthropic SDK for Python',
    install: venv('sdk'),
    packages: ['anthropic'],
    program: 'py/anthropic_client.py',
    // https://github.com/anthropics/anthropic-sdk-python#retries
    retries: { on429: 2, on500: 2 },
    // The tool runner requests a stored conversation, and continues without one after the rejection.
    cases: [native('messages', { tools: { requests: 3, refused: 1 } })],
  },
  {
    id: 'google-genai-python',
    title: 'Google Gen AI SDK for Python',
    install: venv('sdk'),
    packages: ['google-genai'],
    program: 'py/google_genai_client.py',
    // `HttpRetryOptions` are off by default: https://googleapis.github.io/python-genai/
    retries: { on429: 0, on500: 0 },
    cases: [native('gemini')],
  },
  {
    id: 'openai-agents-python',
    title: 'OpenAI Agents SDK for Python',
    install: venv('sdk'),
    packages: ['openai-agents', 'openai'],
    program: 'py/openai_agents_client.py',
    // Same retries as the OpenAI SDK.
    retries: { on429: 2, on500: 2 },
    cases: [
      ...chat((model) => ({ plain: { ignored: withMetadata[model] } })),
      native('responses', { plain: { ignored: ['temperature'] } }),
    ],
  },
  {
    id: 'litellm',
    title: 'LiteLLM',
    install: venv('litellm'),
    packages: ['litellm'],
    program: 'py/litellm_client.py',
    // Same retries as the OpenAI SDK. LiteLLM calls the native routes without that SDK, and does not retry them.
    retries: { on429: 2, on500: 2 },
    cases: [...chat(), native('responses', once), native('messages', once), native('gemini', once)],
  },
  {
    id: 'pydantic-ai',
    title: 'Pydantic AI',
    install: venv('pydantic-ai'),
    packages: ['pydantic-ai-slim'],
    program: 'py/pydantic_ai_client.py',
    // Same retries as the OpenAI and Anthropic SDKs. Google's SDK retries nothing by default.
    retries: { on429: 2, on500: 2 },
    cases: [
      ...chat((model) => ({ ...twoLoops, plain: { ignored: withSeed[model] } })),
      native('responses', twoLoops),
      native('messages', twoLoops),
      native('gemini', { ...twoLoops, ...once }),
    ],
  },
  {
    id: 'langchain-openai-python',
    title: 'LangChain for Python, OpenAI',
    install: venv('langchain'),
    packages: ['langchain-openai', 'langchain-core'],
    program: 'py/langchain_openai_client.py',
    // Same retries as the SDK that it uses.
    retries: { on429: 2, on500: 2 },
    cases: [
      ...chat((model) => ({ ...threeMethods, turns: { ignored: withNames[model] } })),
      native('responses', threeMethods),
    ],
  },
  {
    id: 'langchain-anthropic-python',
    title: 'LangChain for Python, Anthropic',
    install: venv('langchain'),
    packages: ['langchain-anthropic', 'langchain-core'],
    program: 'py/langchain_anthropic_client.py',
    // Same retries as the SDK that it uses.
    retries: { on429: 2, on500: 2 },
    cases: [native('messages', twoMethods)],
  },
  {
    id: 'langchain-google-python',
    title: 'LangChain for Python, Google',
    install: venv('langchain'),
    packages: ['langchain-google-genai', 'langchain-core'],
    program: 'py/langchain_google_client.py',
    // The program sets two attempts instead of six.
    retries: { on429: 1, on500: 1 },
    cases: [native('gemini', threeMethods)],
  },
];
