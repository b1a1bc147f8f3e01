export type StandIn = readonly [part: string, standIn: string];

export interface Welcome {
  readonly url: string;
  readonly apiKey: string;
  /** Nobody has replaced it since it was made. */
  readonly isCurrent: boolean;
  readonly balanceUsd: string;
  readonly standIns: readonly StandIn[];
}

const MODEL = 'gpt-4.1-mini';
const VIDEO_MODEL = 'seedance-2-0-fast';

/** What a newcomer reads first: what runs, with which key, and how to try it. */
export const toWelcome = ({ url, apiKey, isCurrent, balanceUsd, standIns }: Welcome): string => `ready ${url}

Open ${url}/ for a playground, the ledger as it moves, the bot's chat, and a switch that breaks a vendor.
  ${url}/app             the mini app, which the chat opens with its user
  ${url}/api-reference   every route, to read and to try

Stand-ins on this machine
${standIns.map(([part, standIn]) => `  ${part.padEnd(16)} ${standIn}`).join('\n')}

Key      ${apiKey}${isCurrent ? '' : '\n         It has been replaced or revoked since and is refused. `npm run cli -- keys rotate local` makes another.'}
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

Requests (status, result, model, first byte, total, tokens, cost, id). Ctrl-C ends everything.
`;
