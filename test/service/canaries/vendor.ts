import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import * as z from 'zod';
import type { Environment } from '../../support/gateway-process.ts';

export interface QuotingVendor {
  /** Settings that direct the program to this provider instead of every provider and the messenger. */
  readonly environment: Environment;
  /** Number of requests that never get a response. */
  waiting(): number;
  /** Requests that the bot sent to the messenger. */
  readonly received: readonly string[];
  stop(): Promise<void>;
}

/** Builds an error with this text in every member that some provider uses for messages. */
const errorOf = (received: string, status: number, isGoogle: boolean): object =>
  isGoogle
    ? { error: { code: status, message: received, status: received, details: [{ reason: received }] } }
    : {
        type: 'error',
        detail: received,
        error: { message: received, type: received, param: received, code: received },
      };

const quote = (request: IncomingMessage, sent: Buffer, status: number, response: ServerResponse): void => {
  const { headers, url = '' } = request;
  const received = `request ${url} ${JSON.stringify(headers)} ${sent.toString('latin1')}`;
  const error = JSON.stringify(errorOf(received, status, url.includes('/models/')));
  const isStream = status === 200;
  response.writeHead(status, {
    'content-type': isStream ? 'text/event-stream' : 'application/json',
    'x-received': encodeURIComponent(received).slice(0, 4_000),
  });
  response.end(isStream ? `event: error\ndata: ${error}\n\n` : error);
};

const ANSWER_BYTES = 300_000;

/** Responds to a chat with its prompt and a long text. */
const sayBack = (sent: Buffer, response: ServerResponse): void => {
  const { model, messages } = chatSchema.parse(JSON.parse(sent.toString()));
  const content = `${messages.map((message) => message.content).join(' ')} ${'abc '.repeat(ANSWER_BYTES / 4)}`;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_794_000_000, model },
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    }),
  );
};

const chatSchema = z.object({ model: z.string(), messages: z.array(z.object({ content: z.string() })) });
const messageSchema = z.object({ chat_id: z.coerce.number() });

/**
 * Rejects messages to chats with an odd number. As at the messenger, the error text is the reason followed by the
 * message.
 */
const takeMessage = (sent: Buffer, response: ServerResponse): void => {
  const { chat_id: chat } = messageSchema.parse(JSON.parse(sent.toString()));
  response.writeHead(chat % 2 ? 400 : 200, { 'content-type': 'application/json' });
  const description = `Bad Request: can't parse entities: ${sent.toString()}`;
  response.end(JSON.stringify(chat % 2 ? { ok: false, error_code: 400, description } : { ok: true, result: {} }));
};

const pass = (request: IncomingMessage, sent: Buffer, simulatorUrl: string, response: ServerResponse): void => {
  const { method, url, headers } = request;
  const passed = forward(new URL(url ?? '/', simulatorUrl), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  passed.end(sent);
};

/**
 * Simulated provider that quotes the whole request. `[[quote n]]` returns an error with status n; 200 means an error
 * within a stream. `[[say back]]` returns the prompt and a long text, `[[wait]]` never responds. Other requests go to
 * the simulator.
 */
export const startQuotingVendor = async (simulatorUrl: string): Promise<QuotingVendor> => {
  let waiting = 0;
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const sent = Buffer.concat(pieces);
    const [, status] = /\[\[quote (\d+)\]\]/.exec(sent.toString('latin1')) ?? [];
    if (request.url?.startsWith('/bot')) {
      received.push(sent.toString());
      takeMessage(sent, response);
    } else if (sent.includes('[[say back]]')) sayBack(sent, response);
    else if (sent.includes('[[wait]]')) waiting += 1;
    else if (status) quote(request, sent, Number(status), response);
    else pass(request, sent, simulatorUrl, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system assigned no port');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    environment: {
      ...{ OPENAI_BASE_URL: `${url}/v1`, ANTHROPIC_BASE_URL: url, GEMINI_BASE_URL: url },
      ...{ ARK_BASE_URL: `${url}/api/v3`, BFL_BASE_URL: url, BOT_API_URL: url },
    },
    waiting: () => waiting,
    received,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};
