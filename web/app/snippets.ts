import type { Model } from './api-shapes.ts';
import { isUsd } from './shapes.ts';
import { compareUsd } from './usd.ts';

export const clients = ['curl', 'openai-python', 'openai-js', 'anthropic', 'google'] as const;
export type Client = (typeof clients)[number];

export const clientNames: Readonly<Record<Client, string>> = {
  curl: 'curl',
  'openai-python': 'OpenAI Python',
  'openai-js': 'OpenAI JS',
  anthropic: 'Anthropic',
  google: 'Google',
};

const keyLine = 'First: export GATEWAY_KEY=sk-service-...';

/** The key comes from the environment, so that users do not paste it into a program. */
export const snippetOf = (client: Client, origin: string, models: readonly Model[]): string => {
  const [chat, messages, content] = ['chat_completions', 'messages', 'generate_content'].map((protocol) =>
    cheapest(models, protocol),
  );
  const written: Record<Client, string> = {
    curl: `export GATEWAY_URL=${origin} GATEWAY_KEY=sk-service-...

curl $GATEWAY_URL/v1/chat/completions \\
  -H "authorization: Bearer $GATEWAY_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model":"${chat}","messages":[{"role":"user","content":"Say hello"}]}'`,
    'openai-python': `# ${keyLine}
import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["GATEWAY_KEY"])
chat = client.chat.completions.create(
    model="${chat}",
    messages=[{"role": "user", "content": "Say hello"}],
)
print(chat.choices[0].message.content)`,
    'openai-js': `// ${keyLine}
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.GATEWAY_KEY });
const chat = await client.chat.completions.create({
  model: '${chat}',
  messages: [{ role: 'user', content: 'Say hello' }],
});
console.log(chat.choices[0].message.content);`,
    anthropic: `# ${keyLine}
import os
from anthropic import Anthropic

client = Anthropic(base_url="${origin}", api_key=os.environ["GATEWAY_KEY"])
message = client.messages.create(
    model="${messages}",
    max_tokens=256,
    messages=[{"role": "user", "content": "Say hello"}],
)
print(message.content[-1].text)`,
    google: `# ${keyLine}
import os
from google import genai
from google.genai import types

client = genai.Client(
    api_key=os.environ["GATEWAY_KEY"],
    http_options=types.HttpOptions(base_url="${origin}"),
)
answer = client.models.generate_content(
    model="${content}",
    contents="Say hello",
)
print(answer.text)`,
  };
  return written[client];
};

/** Returns the text model with the lowest output price, because a first try should cost little. */
const cheapest = (models: readonly Model[], protocol: string): string => {
  const able = models.filter(
    ({ kind, protocols, lifecycle }) =>
      kind === 'text' && protocols.includes(protocol) && lifecycle.shutdown_date === null,
  );
  const [first] = able.sort((left, right) => compareUsd(answerPrice(left), answerPrice(right)));
  return first?.id ?? 'MODEL';
};

const answerPrice = ({ prices }: Model): string => {
  const output = prices[0]?.prices_usd.output;
  return isUsd(output) ? output : '0';
};
