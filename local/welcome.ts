export type Emulator = readonly [part: string, emulator: string];

export interface Welcome {
  readonly url: string;
  /** Undefined in production: no secret is printed there. */
  readonly account:
    | {
        readonly apiKey: string;
        /** False if the key has been replaced or revoked. */
        readonly isCurrent: boolean;
        readonly balanceUsd: string;
      }
    | undefined;
  readonly emulators: readonly Emulator[];
}

const MODEL = 'gpt-5.4-mini';
const VIDEO_MODEL = 'seedance-2-0-fast';

/** The first output: what runs, with which key, and how to try it. */
export const toWelcome = ({ url, account, emulators }: Welcome): string =>
  account ? forDevelopment(url, account, emulators) : `ready ${url}\n${toLines(emulators)}\n`;

const toLines = (emulators: readonly Emulator[]): string =>
  emulators.map(([part, emulator]) => `  ${part.padEnd(18)} ${emulator}`).join('\n');

type Account = NonNullable<Welcome['account']>;

const forDevelopment = (
  url: string,
  { apiKey, isCurrent, balanceUsd }: Account,
  emulators: readonly Emulator[],
): string => `ready ${url}

Open ${url}/ for a playground, the live ledger, the bot's chat, and switches that break providers.
  ${url}/app             the mini app; the bot's chat opens it for its user
  ${url}/api-reference   every route, with a form to try it
  ${url}/api-reference/clients   how to set up clients and SDKs

Services on this machine
${toLines(emulators)}

Key      ${apiKey}${isCurrent ? '' : '\n         It was replaced or revoked and no longer works. `npm run cli -- keys rotate local` creates another.'}
Balance  ${balanceUsd} USD

Try it
  curl -N ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${apiKey}' \\
    -H 'content-type: application/json' \\
    -d '{"model":"${MODEL}","stream":true,"messages":[{"role":"user","content":"Say hello"}]}'

  curl ${url}/v1/videos \\
    -H 'authorization: Bearer ${apiKey}' \\
    -H 'content-type: application/json' \\
    -d '{"model":"${VIDEO_MODEL}","prompt":"A paper boat on a pond"}'

  curl ${url}/v1/videos -H 'authorization: Bearer ${apiKey}'

  curl ${url}/api/account -H 'authorization: Bearer ${apiKey}'

With the OpenAI SDK
  import OpenAI from 'openai';
  const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${apiKey}' });
  const answer = await client.chat.completions.create({
    model: '${MODEL}',
    messages: [{ role: 'user', content: 'Say hello' }],
  });
  console.log(answer.choices[0].message.content);

Requests (status, result, model, first byte, total, tokens, cost, id). Press Ctrl-C to stop.
`;
