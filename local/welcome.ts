import type { LocalAccount, LocalKeyState } from './local-account.ts';

export type Emulator = readonly [part: string, emulator: string];

export interface Welcome {
  readonly url: string;
  /** Undefined in production: no secret is printed there. */
  readonly account: LocalAccount | undefined;
  readonly emulators: readonly Emulator[];
  /** Receivers of data that the settings name, without paths, headers and secrets. */
  readonly destinations: readonly Emulator[];
}

const MODEL = 'gpt-5.4-mini';
const VIDEO_MODEL = 'seedance-2-0-fast';

/** The first output: what runs, with which key, and how to try it. */
export const toWelcome = ({ url, account, emulators, destinations }: Welcome): string =>
  account
    ? forDevelopment(url, account, toParts(emulators, destinations))
    : `ready ${url}\n${toLines([...emulators, ...destinations])}\n`;

const toParts = (emulators: readonly Emulator[], destinations: readonly Emulator[]): string => {
  const services = `Services on this machine\n${toLines(emulators)}`;
  return destinations.length === 0 ? services : `${services}\n\nSends to\n${toLines(destinations)}`;
};

const toLines = (emulators: readonly Emulator[]): string =>
  emulators.map(([part, emulator]) => `  ${part.padEnd(18)} ${emulator}`).join('\n');

const PLACEHOLDER = 'YOUR_API_KEY';

const noteOf = (state: LocalKeyState): string => {
  if (state.kind === 'current') return '';
  const note =
    state.kind === 'replaced'
      ? `It was replaced and no longer works. The account has the newer key ${state.masked}.`
      : "It was revoked and no longer works. Create another: npm run cli -- keys issue local --reason 'new key'";
  return `\n         ${note}`;
};

const heldOf = (heldUsd: string): string =>
  heldUsd === '0' ? '' : `, of which ${heldUsd} USD is held by requests that have not ended`;

const forDevelopment = (url: string, account: LocalAccount, parts: string): string => {
  const { apiKey, keyState, balanceUsd, heldUsd } = account;
  const isCurrent = keyState.kind === 'current';
  const usable = isCurrent ? apiKey : PLACEHOLDER;
  return `ready ${url}

Open ${url}/ for a playground, the live ledger, the bot's chat, a webhook inbox, and switches that break providers.
  ${url}/app             the mini app; the bot's chat opens it for its user
  ${url}/api-reference   every route and guide, with search
  ${url}/api-reference/clients   how to set up clients and SDKs

${parts}

Key      ${apiKey}${noteOf(keyState)}
Balance  ${balanceUsd} USD${heldOf(heldUsd)}

Try it${isCurrent ? '' : ` with a working key in place of ${PLACEHOLDER}`}
  export GATEWAY_URL=${url} GATEWAY_KEY=${usable}

  curl -N $GATEWAY_URL/v1/chat/completions -H "authorization: Bearer $GATEWAY_KEY" \\
    -d '{"model":"${MODEL}","stream":true,"messages":[{"role":"user","content":"Say hello"}]}'

  curl $GATEWAY_URL/v1/videos -H "authorization: Bearer $GATEWAY_KEY" \\
    -d '{"model":"${VIDEO_MODEL}","prompt":"A paper boat on a pond"}'

  curl $GATEWAY_URL/v1/videos -H "authorization: Bearer $GATEWAY_KEY"

  curl $GATEWAY_URL/api/account -H "authorization: Bearer $GATEWAY_KEY"

With the OpenAI SDK
  import { env } from 'node:process';
  import OpenAI from 'openai';
  const client = new OpenAI({ baseURL: env.GATEWAY_URL + '/v1', apiKey: env.GATEWAY_KEY });
  const answer = await client.chat.completions.create({
    model: '${MODEL}',
    messages: [{ role: 'user', content: 'Say hello' }],
  });
  console.log(answer.choices[0].message.content);

Requests (status, result, model, first byte, total, tokens, cost, id). Press Ctrl-C to stop.
`;
};
