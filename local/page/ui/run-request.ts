import type { ApiRequest } from './build-request.ts';
import type { Mode } from './modes.ts';
import { readText } from './read-text.ts';
import { readVideo } from './read-video.ts';
import { type Reader, type Reading, readError, receiptPath, type Usage } from './reading.ts';

export interface RunRequest {
  readonly mode: Mode;
  readonly request: ApiRequest;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly onChange: Reader['show'];
  /** Origin of the gateway. By default that of the page. */
  readonly origin?: string;
}

/** Sends the request with the key, as any client would, and shows the response while it arrives. */
export const runRequest = async ({ mode, request, key, signal, onChange, origin = '' }: RunRequest): Promise<void> => {
  const sentAt = performance.now();
  const elapsed = (): number => performance.now() - sentAt;
  const authorization = `Bearer ${key}`;
  let isCostKnown = false;
  const show: Reader['show'] = (change) => {
    isCostKnown ||= change.costUsd !== undefined;
    onChange(change);
  };
  const reader: Reader = {
    show,
    elapsed,
    get: (path) => fetch(`${origin}${path}`, { headers: { authorization }, signal }),
    wait: (ms) => waitFor(ms, signal),
  };
  try {
    const response = await fetch(`${origin}${request.path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(request.body),
      signal,
    });
    show(headOf(response));
    const isGood = response.ok ? await readers[mode](response, reader) : await showRefusal(response, reader);
    const totalMs = elapsed();
    if (isGood && !isCostKnown) await showCost(response, reader);
    show({ state: isGood ? 'done' : 'failed', totalMs });
  } catch (error) {
    if (signal.aborted) show({ state: 'stopped', totalMs: elapsed() });
    else show({ state: 'failed', totalMs: elapsed(), error: { code: 'connection broken', message: String(error) } });
  }
};

const headOf = ({ status, headers }: Response): Partial<Reading> => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  costUsd: headers.get('x-service-cost-usd') ?? undefined,
  balanceUsd: headers.get('x-service-balance-usd') ?? undefined,
  maxTokens: headers.get('x-service-max-tokens') ?? undefined,
  retryAfter: headers.get('retry-after') ?? undefined,
});

const showRefusal = async (response: Response, { show, elapsed }: Reader): Promise<false> => {
  show({ firstByteMs: elapsed() });
  show({ error: await readError(response) });
  return false;
};

const readImage = async (response: Response, { show, elapsed }: Reader): Promise<boolean> => {
  show({ firstByteMs: elapsed() });
  const { data, usage }: ImageBody = await response.json();
  const { url = '', b64_json: base64 } = data[0] ?? {};
  // Every URL of the gateway serves the same files. The page may load them from its own origin only.
  const shown = base64 === undefined ? new URL(url).pathname : `data:image/png;base64,${base64}`;
  show({ media: { kind: 'image', url: shown, file: 'image' }, usage: usage && toUsage(usage) });
  return true;
};

interface ImageBody {
  readonly data: readonly { readonly url?: string; readonly b64_json?: string }[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

const toUsage = ({ input_tokens, output_tokens }: NonNullable<ImageBody['usage']>): Usage => ({
  inputTokens: input_tokens,
  outputTokens: output_tokens,
});

const readSpeech = async ({ body, headers }: Response, { show, elapsed }: Reader): Promise<boolean> => {
  const pieces: BlobPart[] = [];
  let firstByteMs: number | undefined;
  const chunks = body?.getReader();
  for (let chunk = await chunks?.read(); chunk?.value; chunk = await chunks?.read()) {
    firstByteMs ??= elapsed();
    pieces.push(chunk.value);
    show({ state: 'streaming', firstByteMs });
  }
  const sound = new Blob(pieces, { type: headers.get('content-type') ?? '' });
  show({ media: { kind: 'audio', url: URL.createObjectURL(sound), file: 'speech.mp3' } });
  return sound.size > 0;
};

const readers: Readonly<Record<Mode, (response: Response, reader: Reader) => Promise<boolean>>> = {
  chat: readText,
  responses: readText,
  images: readImage,
  speech: readSpeech,
  video: readVideo,
};

const RECEIPT_TRIES = 10;
const RECEIPT_WAIT_MS = 300;

/** Reads the cost from the receipt if the response does not have it, as in speech and videos. */
const showCost = async ({ headers }: Response, { show, get, wait }: Reader): Promise<void> => {
  const requestId = headers.get('x-request-id');
  if (requestId === null) return;
  for (let tries = 0; tries < RECEIPT_TRIES; tries += 1) {
    const response = await get(receiptPath(requestId));
    if (response.ok) {
      const { cost_usd: costUsd }: { cost_usd: string } = await response.json();
      show({ costUsd });
      return;
    }
    await wait(RECEIPT_WAIT_MS);
  }
};

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', cancel);
      resolve();
    }, ms);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
  });
