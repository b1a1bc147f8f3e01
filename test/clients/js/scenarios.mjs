import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';

/** Material of the scenarios. The simulated vendors call the first tool with the city that the prompt names. */
export const prompts = {
  hello: 'Say hello.',
  weather: process.env.WEATHER_PROMPT ?? 'What is the weather in Paris?',
  image: 'What do you see?',
  structured: 'Give me a person.',
  limited: '[[status 429 retry-after 1]] Say hello.',
  broken: '[[status 500]] Say hello.',
  endless: 'word '.repeat(1_100_000),
};

export const tool = {
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  run: ({ city }) => `Sunny in ${city}, 21 degrees`,
};

/** A PNG of one pixel. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const assertFinalText = (text) => assert.match(text, /Sunny in Paris/);
export const assertText = (text) => assert.ok(typeof text === 'string' && text.length > 0, 'no text');
export const assertUsed = (tokens) => assert.ok(tokens > 0, 'no usage');
export const assertPieces = (pieces) => assert.ok(pieces > 1, `${pieces} pieces`);

const errorPrompts = {
  error_401: prompts.hello,
  error_402: prompts.hello,
  error_429: prompts.limited,
  error_500: prompts.broken,
  error_context: prompts.endless,
};

/** A scenario per error class: `ask(job, prompt)` sends one request, and `isRight(error)` knows the client's error. */
export const errorsOf = (errorClasses, ask) =>
  Object.fromEntries(
    Object.entries(errorClasses).map(([name, isRight]) => [
      name,
      async (job) => {
        const error = await ask(job, errorPrompts[name]).then(
          () => assert.fail('no error'),
          (thrown) => thrown,
        );
        if (!isRight(error)) throw error;
      },
    ]),
  );

/** Reads scenarios from stdin and writes a result for each. `routes[route][scenario](job)` throws if it fails. */
export const runScenarios = async (routes) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    const result = await runScenario(routes[job.route]?.[job.scenario], job);
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
  process.exit(0);
};

const runScenario = async (scenario, job) => {
  if (scenario === undefined) return { ok: false, error: 'The program lacks this scenario.' };
  try {
    await scenario(job);
    return { ok: true };
  } catch (error) {
    process.stderr.write(`${error?.stack ?? error}\n`);
    return { ok: false, error: String(error?.message ?? error), status: error?.status ?? error?.statusCode };
  }
};
