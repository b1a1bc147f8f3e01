import { ApiError, GoogleGenAI } from '@google/genai';
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
const client = new GoogleGenAI({ apiKey: GATEWAY_KEY, httpOptions: { baseUrl: GATEWAY_URL } });
// end

const clientOf = ({ key }) => (key ? new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: GATEWAY_URL } }) : client);
const person = z.object({ name: z.string(), age: z.number() });
const user = (...parts) => ({ role: 'user', parts });

const ask = (job, prompt) => clientOf(job).models.generateContent({ model: job.model, contents: prompt });

const status = (expected) => (error) => error instanceof ApiError && error.status === expected;
const errorClasses = {
  error_401: status(401),
  error_402: status(402),
  error_429: status(429),
  error_500: (error) => error instanceof ApiError && error.status >= 500,
  error_context: status(400),
};

const callTools = async ({ model }, toHistory) => {
  const { name, description, parameters } = tool;
  const config = { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }] };
  const first = await client.models.generateContent({ model, contents: [user({ text: prompts.weather })], config });
  const results = first.functionCalls.map((call) => ({
    functionResponse: { id: call.id, name: call.name, response: { output: tool.run(call.args) } },
  }));
  const contents = [user({ text: prompts.weather }), toHistory(first.candidates[0].content), user(...results)];
  assertFinalText((await client.models.generateContent({ model, contents, config })).text);
};

const gemini = {
  plain: async (job) => {
    const { text, usageMetadata } = await ask(job, prompts.hello);
    assertText(text);
    assertUsed(usageMetadata.totalTokenCount);
  },
  stream: async ({ model }) => {
    const stream = await client.models.generateContentStream({ model, contents: prompts.hello });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    assertPieces(chunks.filter(({ text }) => text).length);
    assertUsed(chunks.at(-1).usageMetadata.totalTokenCount);
  },
  tools: (job) => callTools(job, (content) => content),
  tools_dump: (job) => callTools(job, (content) => JSON.parse(JSON.stringify(content))),
  structured: async ({ model }) => {
    const { text } = await client.models.generateContent({
      model,
      contents: prompts.structured,
      config: { responseMimeType: 'application/json', responseJsonSchema: z.toJSONSchema(person) },
    });
    person.parse(JSON.parse(text));
  },
  image: async ({ model }) => {
    const contents = [user({ inlineData: { mimeType: 'image/png', data: png } }, { text: prompts.image })];
    assertText((await client.models.generateContent({ model, contents })).text);
  },
  turns: async ({ model }) => {
    const chat = client.chats.create({ model });
    for (const message of ['One.', 'Two.', 'Three.']) assertText((await chat.sendMessage({ message })).text);
  },
  ...errorsOf(errorClasses, ask),
};

await runScenarios({ gemini });
