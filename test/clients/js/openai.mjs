import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
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
const client = new OpenAI({ baseURL: `${GATEWAY_URL}/v1`, apiKey: GATEWAY_KEY });
// end

const clientOf = ({ key }) => (key ? client.withOptions({ apiKey: key }) : client);
const person = z.object({ name: z.string(), age: z.number() });
const dataUrl = `data:image/png;base64,${png}`;

const user = (content) => ({ role: 'user', content });

const errorClasses = {
  error_401: (error) => error instanceof OpenAI.AuthenticationError,
  error_402: (error) => error instanceof OpenAI.APIError && error.status === 402,
  error_429: (error) => error instanceof OpenAI.RateLimitError && error.headers.has('retry-after'),
  error_500: (error) => error instanceof OpenAI.InternalServerError,
  error_context: (error) => error instanceof OpenAI.BadRequestError && error.code === 'context_length_exceeded',
};

const { name, description, parameters } = tool;
const chatTool = { type: 'function', function: { name, description, parameters, strict: true } };
const complete = (job, prompt) => clientOf(job).chat.completions.create({ model: job.model, messages: [user(prompt)] });

const chat = {
  plain: async (job) => {
    const { choices, usage } = await complete(job, prompts.hello);
    assertText(choices[0].message.content);
    assertUsed(usage.total_tokens);
  },
  stream: async ({ model }) => {
    const stream = client.chat.completions.stream({
      model,
      messages: [user(prompts.hello)],
      stream_options: { include_usage: true },
    });
    let pieces = 0;
    stream.on('content', () => (pieces += 1));
    const { choices, usage } = await stream.finalChatCompletion();
    assertPieces(pieces);
    assertText(choices[0].message.content);
    assertUsed(usage.total_tokens);
  },
  tools: async ({ model }) => {
    const runner = client.chat.completions.runTools({
      model,
      messages: [user(prompts.weather)],
      tools: [{ type: 'function', function: { name, description, parameters, parse: JSON.parse, function: tool.run } }],
    });
    assertFinalText(await runner.finalContent());
  },
  tools_dump: async ({ model }) => {
    const messages = [user(prompts.weather)];
    const first = await client.chat.completions.parse({ model, messages, tools: [chatTool] });
    const message = JSON.parse(JSON.stringify(first.choices[0].message));
    const results = message.tool_calls.map((call) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: tool.run(JSON.parse(call.function.arguments)),
    }));
    const second = await client.chat.completions.create({
      model,
      messages: [...messages, message, ...results],
      tools: [chatTool],
    });
    assertFinalText(second.choices[0].message.content);
  },
  structured: async ({ model }) => {
    const { choices } = await client.chat.completions.parse({
      model,
      messages: [user(prompts.structured)],
      response_format: zodResponseFormat(person, 'person'),
    });
    person.parse(choices[0].message.parsed);
  },
  image: async ({ model }) => {
    const content = [
      { type: 'text', text: prompts.image },
      { type: 'image_url', image_url: { url: dataUrl } },
    ];
    const { choices } = await client.chat.completions.create({ model, messages: [user(content)] });
    assertText(choices[0].message.content);
  },
  turns: async ({ model }) => {
    const messages = [];
    for (const prompt of ['One.', 'Two.', 'Three.']) {
      messages.push(user(prompt));
      const { choices } = await client.chat.completions.create({ model, messages });
      assertText(choices[0].message.content);
      messages.push(choices[0].message);
    }
  },
  ...errorsOf(errorClasses, complete),
};

const responsesTool = { type: 'function', name, description, parameters, strict: true };
const respond = (job, prompt) => clientOf(job).responses.create({ model: job.model, input: prompt, store: false });

const callOutputs = (output) =>
  output
    .filter(({ type }) => type === 'function_call')
    .map((call) => ({
      type: 'function_call_output',
      call_id: call.call_id,
      output: tool.run(JSON.parse(call.arguments)),
    }));

const responsesTools = async ({ model }, call, toHistory) => {
  const request = { model, tools: [responsesTool], store: false, include: ['reasoning.encrypted_content'] };
  const first = await call({ ...request, input: [user(prompts.weather)] });
  const output = toHistory(first.output);
  const input = [user(prompts.weather), ...output, ...callOutputs(output)];
  assertFinalText((await call({ ...request, input })).output_text);
};

const responses = {
  plain: async (job) => {
    const { output_text: text, usage } = await respond(job, prompts.hello);
    assertText(text);
    assertUsed(usage.total_tokens);
  },
  stream: async ({ model }) => {
    const stream = client.responses.stream({ model, input: prompts.hello, store: false });
    let pieces = 0;
    stream.on('response.output_text.delta', () => (pieces += 1));
    const { output_text: text, usage } = await stream.finalResponse();
    assertPieces(pieces);
    assertText(text);
    assertUsed(usage.total_tokens);
  },
  tools: (job) =>
    responsesTools(
      job,
      (request) => client.responses.create(request),
      (output) => output,
    ),
  tools_dump: (job) =>
    responsesTools(
      job,
      (request) => client.responses.parse(request),
      (output) => JSON.parse(JSON.stringify(output)),
    ),
  structured: async ({ model }) => {
    const { output_parsed: parsed } = await client.responses.parse({
      model,
      input: prompts.structured,
      store: false,
      text: { format: zodTextFormat(person, 'person') },
    });
    person.parse(parsed);
  },
  image: async ({ model }) => {
    const content = [
      { type: 'input_text', text: prompts.image },
      { type: 'input_image', image_url: dataUrl, detail: 'auto' },
    ];
    assertText((await client.responses.create({ model, input: [user(content)], store: false })).output_text);
  },
  turns: async ({ model }) => {
    const input = [];
    for (const prompt of ['One.', 'Two.', 'Three.']) {
      input.push(user(prompt));
      const { output, output_text: text } = await client.responses.create({ model, input, store: false });
      assertText(text);
      input.push(...output);
    }
  },
  ...errorsOf(errorClasses, respond),
};

await runScenarios({ chat, responses });
