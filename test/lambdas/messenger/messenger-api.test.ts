import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { html } from '../../../lambdas/messenger/html.ts';
import { createMessenger, MessengerError, openApi } from '../../../lambdas/messenger/messenger-api.ts';
import { BOT_TOKEN } from '../../support/bot-updates.ts';

/** Returns the error for this response of the Bot API. */
const failureOf = async (status: number, body: string): Promise<MessengerError> => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const apiUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  try {
    const messenger = createMessenger(openApi({ botToken: BOT_TOKEN, apiUrl }));
    const thrown = await messenger.send('7', { text: html`canary-text` }).catch((error: unknown) => error);
    if (thrown instanceof MessengerError) return thrown;
    throw thrown;
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

const refusal = (error_code: number, description: string, more: object = {}) =>
  failureOf(error_code, JSON.stringify({ ok: false, error_code, description, ...more }));

test.each([
  [400, 'refused'],
  [413, 'refused'],
  [403, 'closed'],
  [401, 'later'],
  [404, 'later'],
  [429, 'later'],
  [500, 'later'],
  [502, 'later'],
] as const)('KEY-3 %i of the Bot API is %s', async (status, kind) => {
  expect(await refusal(status, 'x')).toMatchObject({ kind, status });
});

test('KEY-3 the error has the time after which the messenger accepts a retry', async () => {
  expect(await refusal(429, 'Too Many Requests', { parameters: { retry_after: 41 } })).toMatchObject({
    retryAfterSeconds: 41,
  });
});

test('KEY-1 an error contains neither the message nor the token', async () => {
  const failures = [
    await refusal(400, `Bad Request: can't parse entities: unexpected "canary-text"`),
    await refusal(500, 'Internal Server Error'),
    await failureOf(502, 'canary-text'),
  ];
  for (const failure of failures) {
    const logged = JSON.stringify({ ...failure, message: failure.message, cause: failure.cause, stack: failure.stack });
    expect(logged).not.toContain('canary-text');
    expect(logged).not.toContain(BOT_TOKEN);
  }
  expect(failures[0]?.message).toBe("the Bot API answered 400: Bad Request: can't parse entities");
});
