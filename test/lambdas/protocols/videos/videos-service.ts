import type { RouteHandler, Summary } from '../../../../lambdas/http/exchange.ts';
import { createGetVideoContent } from '../../../../lambdas/protocols/videos/content.ts';
import {
  createCreateVideo,
  createDeleteVideo,
  createGetVideo,
  createListVideos,
} from '../../../../lambdas/protocols/videos/handlers.ts';
import type { CheckWebhookUrl } from '../../../../lambdas/protocols/videos/request.ts';
import { videoWorld, type WorldOptions } from '../../core/videos/video-world.ts';
import { createChain } from '../../http/chain.ts';
import type { SentForm } from '../../http/forms.ts';
import { functionUrlEvent, invoke, type Sent } from '../../http/function-url.ts';

interface ServiceOptions extends WorldOptions {
  readonly checkWebhookUrl?: CheckWebhookUrl;
}

/** Returns the id of the request with this number, counted from 1. */
export const requestIdOf = (turn: number): string => `01KA${String(turn).padStart(22, '0')}`;

/** The video routes with all their middleware, on in-memory stores. */
export const videosService = async (options: ServiceOptions = {}) => {
  const world = await videoWorld(options);
  const { creating, idempotency } = world;
  const read = { jobs: creating.jobs, files: creating.files, now: () => world.clock.now() };
  const streamed: Summary[] = [];
  const handlers: Readonly<Record<string, RouteHandler>> = {
    createVideo: createCreateVideo({
      create: { ...creating, notice: () => undefined },
      idempotency,
      checkWebhookUrl: options.checkWebhookUrl ?? (() => undefined),
    }),
    getVideo: createGetVideo(read),
    listVideos: createListVideos(read),
    deleteVideo: createDeleteVideo(read),
    getVideoContent: createGetVideoContent({ ...read, finished: (_id, summary) => streamed.push({ ...summary }) }),
  };
  let requests = 0;
  const chain = await createChain({
    clock: world.clock,
    keyBurst: 10_000,
    addressBurst: 10_000,
    newRequestId: () => {
      requests += 1;
      return requestIdOf(requests);
    },
    handle: (exchange) => {
      const handler = handlers[exchange.route?.name ?? ''];
      if (!handler) throw new Error('not a video route');
      return handler(exchange);
    },
  });
  const authorization = `Bearer ${chain.apiKey}`;
  const eventOf = ({ headers, ...sent }: Sent) => functionUrlEvent({ ...sent, headers: { authorization, ...headers } });
  const send = (sent: Sent) => invoke(chain.handler, eventOf(sent));
  const get = (path: string, headers: Sent['headers'] = {}, query: Readonly<Record<string, string>> = {}) =>
    invoke(chain.handler, { ...eventOf({ path, headers }), queryStringParameters: query });
  const post = (body: unknown, headers: Sent['headers'] = {}) =>
    send({ method: 'POST', path: '/v1/videos', headers, body: JSON.stringify(body) });
  const postForm = ({ bytes, contentType }: SentForm, headers: Sent['headers'] = {}) =>
    send({
      method: 'POST',
      path: '/v1/videos',
      headers: { ...headers, 'content-type': contentType },
      body: bytes,
      base64: true,
    });
  return { ...world, ...chain, world, streamed, send, get, post, postForm, eventOf };
};

export type VideosService = Awaited<ReturnType<typeof videosService>>;

/** Members of an error that a client sees. */
export const errorOf = ({ status, text }: { readonly status: number; readonly text: string }) => {
  const { code, param, message } = JSON.parse(text).error;
  return { status, code, param, message };
};
