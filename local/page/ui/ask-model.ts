import { EventSourceParserStream } from 'eventsource-parser/stream';

export interface Question {
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
  readonly system: string;
  readonly isStreamed: boolean;
  /** Undefined uses the model's default. */
  readonly temperature: number | undefined;
}

/** Facts about a response so far. */
export interface Reading {
  readonly state: 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';
  readonly text: string;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
  readonly firstByteMs?: number | undefined;
  readonly totalMs?: number | undefined;
  readonly usage?: Usage | undefined;
  readonly balanceUsd?: string | undefined;
  /** Output limit that the gateway chose because the balance was too low. */
  readonly maxTokens?: string | undefined;
  readonly error?: ServiceError | undefined;
  readonly retryAfter?: string | undefined;
}

interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cost_usd?: string;
}

interface ServiceError {
  readonly code: string;
  readonly message: string;
}

interface Answer {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly message?: { readonly content?: string | null };
  }[];
  readonly usage?: Usage | null;
  readonly error?: ServiceError;
}

type Show = (change: Partial<Reading>) => void;

/** Sends the request with the key, as any client would, and shows the response while it arrives. */
export const askModel = async (question: Question, signal: AbortSignal, show: Show): Promise<void> => {
  const begunAt = performance.now();
  const elapsed = (): number => performance.now() - begunAt;
  try {
    const response = await send(question, signal);
    show(headOf(response));
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const isGood = await (isStream ? showStream : showWhole)(response, show, elapsed);
    show({ state: isGood ? 'done' : 'failed', totalMs: elapsed() });
  } catch (error) {
    if (signal.aborted) show({ state: 'stopped', totalMs: elapsed() });
    else show({ state: 'failed', totalMs: elapsed(), error: { code: 'connection broken', message: String(error) } });
  }
};

const send = ({ key, model, prompt, system, isStreamed, temperature }: Question, signal: AbortSignal) =>
  fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [...(system ? [{ role: 'system', content: system }] : []), { role: 'user', content: prompt }],
      stream: isStreamed,
      temperature,
    }),
    signal,
  });

const headOf = ({ status, headers }: Response): Partial<Reading> => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  balanceUsd: headers.get('x-service-balance-usd') ?? undefined,
  maxTokens: headers.get('x-service-max-tokens') ?? undefined,
  retryAfter: headers.get('retry-after') ?? undefined,
});

/** Returns whether the response is a success. */
const showWhole = async (response: Response, show: Show, elapsed: () => number): Promise<boolean> => {
  show({ firstByteMs: elapsed() });
  const { choices, usage, error }: Answer = await response.json();
  show({ text: choices?.[0]?.message?.content ?? '', usage: withCost(usage, response), error });
  return error === undefined;
};

const withCost = (usage: Usage | null | undefined, { headers }: Response): Usage | undefined => {
  const cost_usd = headers.get('x-service-cost-usd');
  return usage ? { ...usage, ...(cost_usd === null ? {} : { cost_usd }) } : undefined;
};

/** Returns whether the stream ended properly: after an error there is no `[DONE]`. */
const showStream = async ({ body }: Response, show: Show, elapsed: () => number): Promise<boolean> => {
  if (!body) return false;
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
  let text = '';
  let firstByteMs: number | undefined;
  for (;;) {
    const { value, done } = await events.read();
    if (done) {
      show({ error: { code: 'cut', message: 'The stream ended before its proper end.' } });
      return false;
    }
    if (value.data === '[DONE]') return true;
    const { choices, usage, error }: Answer = JSON.parse(value.data);
    firstByteMs ??= elapsed();
    text += choices?.[0]?.delta?.content ?? '';
    show({ state: 'streaming', text, firstByteMs, ...(usage ? { usage } : {}), ...(error ? { error } : {}) });
    if (error) return false;
  }
};
