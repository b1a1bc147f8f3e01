import { allScenarios, type Client, chatModels, nativeModels } from './client.ts';

const install = { kind: 'npm', folder: 'js' } as const;

const onChat = chatModels.map((model) => ({ route: 'chat' as const, model, scenarios: allScenarios() }));
const onMessages = { route: 'messages', model: nativeModels.messages } as const;
const onGemini = { route: 'gemini', model: nativeModels.gemini, scenarios: allScenarios() } as const;

/** Returns the ignored fields of a request with a temperature, which OpenAI models do not receive. */
const withoutSampling = (model: string): readonly string[] => (model.startsWith('gpt-') ? ['temperature'] : []);

export const jsClients: readonly Client[] = [
  {
    id: 'openai-js',
    title: 'OpenAI SDK for JavaScript',
    install,
    packages: ['openai'],
    program: 'js/openai.mjs',
    // https://github.com/openai/openai-node#retries
    retries: { on429: 2, on500: 2 },
    cases: [...onChat, { route: 'responses', model: nativeModels.responses, scenarios: allScenarios() }],
  },
  {
    id: 'anthropic-js',
    title: 'Anthropic SDK for JavaScript',
    install,
    packages: ['@anthropic-ai/sdk'],
    program: 'js/anthropic.mjs',
    // https://github.com/anthropics/anthropic-sdk-typescript#retries
    retries: { on429: 2, on500: 2 },
    cases: [
      {
        ...onMessages,
        // The tool runner first requests a conversation that the provider stores. After the rejection it continues
        // without one.
        scenarios: allScenarios({ tools: { requests: 3, refused: 1 } }),
      },
    ],
  },
  {
    id: 'google-genai-js',
    title: 'Google Gen AI SDK for JavaScript',
    install,
    packages: ['@google/genai'],
    program: 'js/google-genai.mjs',
    // No retries unless `httpOptions.retryOptions` asks for them.
    retries: { on429: 0, on500: 0 },
    cases: [onGemini],
  },
  {
    id: 'langchain-js',
    title: 'LangChain for JavaScript',
    install,
    packages: ['@langchain/openai', '@langchain/core'],
    program: 'js/langchain.mjs',
    // The program sets `maxRetries` to 2.
    retries: { on429: 2, on500: 2 },
    cases: chatModels.map((model) => ({
      route: 'chat',
      model,
      scenarios: allScenarios({
        plain: { ignored: withoutSampling(model) },
        tools: { ignored: withoutSampling(model) },
        tools_dump: { ignored: withoutSampling(model) },
        // One request each for a schema, a forced function and JSON mode.
        structured: { requests: 3 },
      }),
    })),
  },
  {
    id: 'ai-sdk',
    title: 'Vercel AI SDK',
    install,
    packages: ['ai', '@ai-sdk/openai-compatible', '@ai-sdk/anthropic', '@ai-sdk/google'],
    program: 'js/ai-sdk.mjs',
    // https://ai-sdk.dev/docs/reference/ai-sdk-core/generate-text: `maxRetries`
    retries: { on429: 2, on500: 2 },
    cases: [
      ...chatModels.map((model) => ({
        route: 'chat' as const,
        model,
        scenarios: allScenarios({ plain: { ignored: withoutSampling(model) } }),
      })),
      { ...onMessages, scenarios: allScenarios() },
      onGemini,
    ],
  },
];
