import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
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
const client = new Anthropic({ baseURL: GATEWAY_URL, apiKey: GATEWAY_KEY });
// end

const max_tokens = 1_000;
const person = z.object({ name: z.string(), age: z.number() });
const user = (content) => ({ role: 'user', content });
const textOf = ({ content }) => content.map(({ text = '' }) => text).join('');

const ask = ({ model, key }, prompt) =>
  (key ? client.withOptions({ apiKey: key }) : client).messages.create({ model, max_tokens, messages: [user(prompt)] });

const errorClasses = {
  error_401: (error) => error instanceof Anthropic.AuthenticationError,
  error_402: (error) => error instanceof Anthropic.APIError && error.status === 402,
  error_429: (error) => error instanceof Anthropic.RateLimitError && error.headers.has('retry-after'),
  error_500: (error) => error instanceof Anthropic.InternalServerError,
  error_context: (error) => error instanceof Anthropic.BadRequestError,
};

const messages = {
  plain: async (job) => {
    const message = await ask(job, prompts.hello);
    assertText(textOf(message));
    assertUsed(message.usage.output_tokens);
  },
  stream: async ({ model }) => {
    const stream = client.messages.stream({ model, max_tokens, messages: [user(prompts.hello)] });
    let pieces = 0;
    stream.on('text', () => (pieces += 1));
    const message = await stream.finalMessage();
    assertPieces(pieces);
    assert.equal(message.stop_reason, 'end_turn');
    assertUsed(message.usage.output_tokens);
  },
  tools: async ({ model }) => {
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens,
      messages: [user(prompts.weather)],
      tools: [
        betaZodTool({
          name: tool.name,
          description: tool.description,
          inputSchema: z.object({ city: z.string() }),
          run: tool.run,
        }),
      ],
    });
    assertFinalText(textOf(await runner));
  },
  tools_dump: async ({ model }) => {
    const tools = [{ name: tool.name, description: tool.description, input_schema: tool.parameters }];
    const request = { model, max_tokens, tools };
    const first = await client.messages.create({ ...request, messages: [user(prompts.weather)] });
    // The whole message, as programs store it.
    const { role, content } = JSON.parse(JSON.stringify(first));
    const results = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: tool.run(input) }));
    const history = [user(prompts.weather), { role, content }, user(results)];
    assertFinalText(textOf(await client.messages.create({ ...request, messages: history })));
  },
  structured: async ({ model }) => {
    const { parsed_output: parsed } = await client.messages.parse({
      model,
      max_tokens,
      messages: [user(prompts.structured)],
      output_config: { format: zodOutputFormat(person) },
    });
    person.parse(parsed);
  },
  image: async ({ model }) => {
    const source = { type: 'base64', media_type: 'image/png', data: png };
    const content = [
      { type: 'image', source },
      { type: 'text', text: prompts.image },
    ];
    assertText(textOf(await client.messages.create({ model, max_tokens, messages: [user(content)] })));
  },
  turns: async ({ model }) => {
    const history = [];
    for (const prompt of ['One.', 'Two.', 'Three.']) {
      history.push(user(prompt));
      const message = await client.messages.parse({ model, max_tokens, messages: history });
      assertText(textOf(message));
      history.push({ role: message.role, content: message.content });
    }
  },
  ...errorsOf(errorClasses, ask),
};

await runScenarios({ messages });
