import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, isStepCount, Output, RetryError, streamText, tool as toTool } from 'ai';
import * as z from 'zod';
import {
  assertFinalText,
  assertPieces,
  assertText,
  assertUsed,
  errorsOf,
  png,
  prompts,
  runScenarios,
  tool,
} from './scenarios.mjs';

const { GATEWAY_URL, GATEWAY_KEY } = process.env;

// set-up
const gateway = createOpenAICompatible({
  name: 'gateway',
  baseURL: `${GATEWAY_URL}/v1`,
  apiKey: GATEWAY_KEY,
  // Without it, Output.object requests JSON but does not send the schema.
  supportsStructuredOutputs: true,
});

// Or with the native protocol of the provider:
const anthropic = createAnthropic({ baseURL: `${GATEWAY_URL}/v1`, apiKey: GATEWAY_KEY });
const google = createGoogleGenerativeAI({ baseURL: `${GATEWAY_URL}/v1beta`, apiKey: GATEWAY_KEY });
// end

const providers = {
  chat: (apiKey) => createOpenAICompatible({ name: 'gateway', baseURL: `${GATEWAY_URL}/v1`, apiKey }),
  messages: (apiKey) => createAnthropic({ baseURL: `${GATEWAY_URL}/v1`, apiKey }),
  gemini: (apiKey) => createGoogleGenerativeAI({ baseURL: `${GATEWAY_URL}/v1beta`, apiKey }),
};
const modelOf = ({ route, model, key }) =>
  (key ? providers[route](key) : { chat: gateway, messages: anthropic, gemini: google }[route])(model);

const person = z.object({ name: z.string(), age: z.number() });
const tools = {
  [tool.name]: toTool({
    description: tool.description,
    inputSchema: z.object({ city: z.string() }),
    execute: async (args) => tool.run(args),
  }),
};

const ask = (job, prompt) => generateText({ model: modelOf(job), prompt });

/** Repeated calls end with a RetryError around the last error. */
const callError = (error) => (RetryError.isInstance(error) ? error.lastError : error);
const status = (expected) => (error) =>
  APICallError.isInstance(callError(error)) && callError(error).statusCode === expected;
const errorClasses = {
  error_401: status(401),
  error_402: status(402),
  error_429: (error) => status(429)(error) && 'retry-after' in callError(error).responseHeaders,
  error_500: (error) => APICallError.isInstance(callError(error)) && callError(error).statusCode >= 500,
  error_context: status(400),
};

const scenarios = {
  plain: async (job) => {
    const { text, usage } = await generateText({ model: modelOf(job), prompt: prompts.hello, temperature: 0 });
    assertText(text);
    assertUsed(usage.totalTokens);
  },
  stream: async (job) => {
    const { textStream, usage } = streamText({ model: modelOf(job), prompt: prompts.hello });
    let pieces = 0;
    for await (const piece of textStream) if (piece) pieces += 1;
    assertPieces(pieces);
    assertUsed((await usage).totalTokens);
  },
  tools: async (job) => {
    const { text } = await generateText({
      model: modelOf(job),
      prompt: prompts.weather,
      tools,
      stopWhen: isStepCount(3),
    });
    assertFinalText(text);
  },
  tools_dump: async (job) => {
    const messages = [{ role: 'user', content: prompts.weather }];
    const first = await generateText({ model: modelOf(job), messages, tools });
    messages.push(...JSON.parse(JSON.stringify(first.response.messages)));
    assertFinalText((await generateText({ model: modelOf(job), messages, tools })).text);
  },
  structured: async (job) => {
    const { output } = await generateText({
      model: modelOf(job),
      prompt: prompts.structured,
      output: Output.object({ schema: person }),
    });
    person.parse(output);
  },
  image: async (job) => {
    const content = [
      { type: 'text', text: prompts.image },
      { type: 'image', image: Buffer.from(png, 'base64') },
    ];
    assertText((await generateText({ model: modelOf(job), messages: [{ role: 'user', content }] })).text);
  },
  turns: async (job) => {
    const messages = [];
    for (const content of ['One.', 'Two.', 'Three.']) {
      messages.push({ role: 'user', content });
      const { text, response } = await generateText({ model: modelOf(job), messages });
      assertText(text);
      messages.push(...response.messages);
    }
  },
  ...errorsOf(errorClasses, ask),
};

await runScenarios({ chat: scenarios, messages: scenarios, gemini: scenarios });
