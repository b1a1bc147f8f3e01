import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import * as z from 'zod';

/** Error response of the Bot API, or a connection that closes without a response. */
export type BotApiAnswer =
  | { readonly status: number; readonly description: string; readonly retryAfter?: number }
  | { readonly status: number; readonly html: string }
  | 'no answer';

const messageSchema = z.looseObject({ chat_id: z.union([z.string(), z.int()]), text: z.string() });
export type SentMessage = z.output<typeof messageSchema>;

/**
 * Starts a Bot API that accepts every message except those for which the plan returns an error. `turn` counts requests
 * from 0.
 */
export const startBotApi = async (plan: (turn: number) => BotApiAnswer | undefined = () => undefined) => {
  const paths: string[] = [];
  const taken: SentMessage[] = [];
  const server = createServer(async (request, response) => {
    const answer = plan(paths.length);
    paths.push(request.url ?? '');
    const message = messageSchema.parse(await json(request));
    if (answer === 'no answer') {
      request.socket.destroy();
      return;
    }
    response.statusCode = answer?.status ?? 200;
    if (answer && 'html' in answer) {
      response.end(answer.html);
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (!answer) taken.push(message);
    response.end(JSON.stringify(answer ? toError(answer) : { ok: true, result: { message_id: taken.length } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = z.custom<AddressInfo>((value) => typeof value === 'object').parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    /** Paths of all requests, including rejected ones. */
    paths,
    taken,
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

interface Refusal {
  readonly status: number;
  readonly description: string;
  readonly retryAfter?: number;
}

const toError = ({ status, description, retryAfter }: Refusal) => ({
  ok: false,
  error_code: status,
  description,
  ...(retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } }),
});
