import { ContextOverflowError } from '@langchain/core/errors';
import {
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
} from '@langchain/core/messages';
import { tool as toTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
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
const modelOf = (model, options) =>
  new ChatOpenAI({ model, apiKey: GATEWAY_KEY, configuration: { baseURL: `${GATEWAY_URL}/v1` }, ...options });
// end

const person = z.object({ name: z.string(), age: z.number() });
const weather = toTool(async (args) => tool.run(args), {
  name: tool.name,
  description: tool.description,
  schema: z.object({ city: z.string() }),
});

// Six retries by default, which take more than a minute after an error without Retry-After.
const ask = ({ model, key = GATEWAY_KEY }, prompt) => modelOf(model, { apiKey: key, maxRetries: 2 }).invoke(prompt);

const status = (expected) => (error) => error.status === expected;
const errorClasses = {
  error_401: (error) => error.status === 401 && error.lc_error_code === 'MODEL_AUTHENTICATION',
  error_402: status(402),
  error_429: (error) => error.status === 429 && error.lc_error_code === 'MODEL_RATE_LIMIT',
  error_500: (error) => error.status >= 500,
  error_context: (error) => ContextOverflowError.isInstance(error) || error.status === 400,
};

/** `toHistory` passes on what the model said. */
const callTools = async ({ model }, toHistory) => {
  const bound = modelOf(model, { temperature: 0 }).bindTools([weather]);
  const history = [new HumanMessage(prompts.weather)];
  const first = await bound.invoke(history);
  history.push(first);
  for (const call of first.tool_calls) history.push(await weather.invoke(call));
  assertFinalText((await bound.invoke(toHistory(history))).text);
};

const chat = {
  plain: async (job) => {
    const message = await modelOf(job.model, { temperature: 0.7 }).invoke(prompts.hello);
    assertText(message.text);
    assertUsed(message.usage_metadata.total_tokens);
  },
  stream: async ({ model }) => {
    let whole;
    let pieces = 0;
    for await (const chunk of await modelOf(model).stream(prompts.hello)) {
      if (chunk.text) pieces += 1;
      whole = whole === undefined ? chunk : whole.concat(chunk);
    }
    assertPieces(pieces);
    assertUsed(whole.usage_metadata.total_tokens);
  },
  tools: (job) => callTools(job, (history) => history),
  tools_dump: (job) =>
    callTools(job, (history) =>
      mapStoredMessagesToChatMessages(JSON.parse(JSON.stringify(mapChatMessagesToStoredMessages(history)))),
    ),
  structured: async ({ model }) => {
    for (const method of ['jsonSchema', 'functionCalling', 'jsonMode']) {
      const prompt = `${prompts.structured} Answer in JSON.`;
      const answer = await modelOf(model)
        .withStructuredOutput(method === 'jsonMode' ? z.looseObject({}) : person, { method })
        .invoke(prompt);
      if (method !== 'jsonMode') person.parse(answer);
    }
  },
  image: async ({ model }) => {
    const content = [
      { type: 'text', text: prompts.image },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ];
    assertText((await modelOf(model).invoke([new HumanMessage({ content })])).text);
  },
  turns: async ({ model }) => {
    const history = [];
    for (const prompt of ['One.', 'Two.', 'Three.']) {
      history.push(new HumanMessage(prompt));
      const message = await modelOf(model).invoke(history);
      assertText(message.text);
      history.push(message);
    }
  },
  ...errorsOf(errorClasses, ask),
};

await runScenarios({ chat });
