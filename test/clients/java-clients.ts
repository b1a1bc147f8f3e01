import { allScenarios, type Client, chatModels, nativeModels, type Route } from './client.ts';

const native = (route: Exclude<Route, 'chat'>, scenarios: Client['cases'][number]['scenarios']) => ({
  route,
  model: nativeModels[route],
  scenarios,
});

/** Clients in Java. They need a JDK and Maven. */
export const javaClients: readonly Client[] = [
  {
    id: 'openai-java',
    title: 'OpenAI SDK for Java',
    install: { kind: 'maven', folder: 'java' },
    packages: ['com.openai:openai-java'],
    program: 'java/OpenAiClient.java',
    // https://github.com/openai/openai-java#retries
    retries: { on429: 2, on500: 2 },
    cases: [
      ...chatModels.map((model) => ({ route: 'chat' as const, model, scenarios: allScenarios() })),
      native('responses', allScenarios()),
      native('embeddings', { plain: {} }),
      native('images', { plain: {} }),
    ],
  },
];
