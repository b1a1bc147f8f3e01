import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { isJsonObject } from '../../core/json.ts';
import type { TextWire, WireAnswer, WireCall, WireStream } from '../../core/text/text-wire.ts';
import { readJson } from '../read-json.ts';
import { retryAfterSeconds } from '../retry-after.ts';
import type { UpstreamHttp, UpstreamResponse } from '../upstream-http.ts';
import { toChatBody } from './chat-request.ts';
import { readChatStream } from './chat-stream.ts';
import { toTokenUsage } from './chat-usage.ts';
import { parseRefusal, type RefusalContext, toGatewayError, toInBandError, type VendorNotice } from './errors.ts';

export interface ChatWireOptions {
  readonly http: UpstreamHttp;
  /** The provider's base URL and key as they are in this environment. */
  readonly access: (providerId: string) => { readonly baseUrl: string; readonly key: string };
  readonly notice: (notice: VendorNotice, providerId: string) => void;
  readonly now: () => number;
  readonly random: () => number;
}

const choices = z.array(z.object({ finish_reason: z.string().nullish() })).min(1);

/** Chat completions as OpenAI and every compatible server speak them. */
export const createChatWire = (options: ChatWireOptions): TextWire => ({
  send: async (call) => {
    const { baseUrl, key } = options.access(call.provider.id);
    const { header, scheme } = call.provider.credential;
    const response = await options.http({
      url: `${baseUrl.replace(/\/+$/, '')}/chat/completions`,
      headers: {
        'content-type': 'application/json',
        accept: call.request.stream ? 'text/event-stream' : 'application/json',
        'accept-encoding': 'identity',
        ...call.provider.headers,
        [header.toLowerCase()]: scheme ? `${scheme} ${key}` : key,
      },
      body: JSON.stringify(toChatBody(call)),
      signal: call.signal,
    });
    const told: RefusalContext = {
      retryAfterSeconds: retryAfterSeconds(response.headers['retry-after'], options.now(), options.random),
      secret: key,
      notice: (notice) => options.notice(notice, call.provider.id),
    };
    if (response.status !== 200) {
      throw toGatewayError(response.status, parseRefusal(await readJson(response).catch(() => undefined)), told);
    }
    return call.request.stream ? toStream(response, call, told) : toAnswer(response, told);
  },
});

const toStream = (response: UpstreamResponse, call: WireCall, told: RefusalContext): WireStream => {
  const events = readChatStream(response.body, {
    modelId: call.model.id,
    choices: call.request.choices,
    told,
  });
  return { kind: 'stream', events, close: response.discard };
};

const toAnswer = async (response: UpstreamResponse, told: RefusalContext): Promise<WireAnswer> => {
  const body = await readJson(response);
  if (isJsonObject(body) && isJsonObject(body.error)) throw toInBandError(parseRefusal(body), told);
  const listed = isJsonObject(body) ? choices.safeParse(body.choices) : undefined;
  if (!isJsonObject(body) || !listed?.success) {
    throw new GatewayError('upstream_error', 'The model sent something unreadable. Nothing was charged.');
  }
  if (listed.data.some((choice) => choice.finish_reason === 'content_filter')) {
    throw new GatewayError(
      'content_filter',
      'The answer was stopped by the safety filter of the vendor. Nothing was charged.',
    );
  }
  return { kind: 'answer', body, usage: toTokenUsage(body.usage) };
};
