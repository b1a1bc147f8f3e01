import { LASTING_MODEL, saying } from '../../support/gateway-chat.ts';
import type { FaultKind, Script } from './script.ts';

/** A request whose store calls each fail in every way. */
export interface Scenario {
  readonly title: string;
  readonly path: string;
  readonly model: string;
  /** The mark identifies this request at the provider. */
  readonly body: (mark: string) => object;
  readonly headers?: (mark: string) => Readonly<Record<string, string>>;
  readonly charged: { readonly prompt_tokens: number; readonly completion_tokens: number };
  /** Every store call of a successful request, sorted. */
  readonly calls: readonly string[];
}

export const USED = { prompt_tokens: 70, completion_tokens: 21 };
const ADDRESS = 'counters UpdateItem';
const HOLD = 'accounts hold';
const RECORD = 'accounts record';
const SETTLED = `${RECORD} settled`;
const CLAIM = 'idempotency claim';
const PREPARE = 'idempotency prepare';
/** Without a definite reply to one of these calls, nothing is served. */
const decisive: ReadonlySet<string> = new Set([HOLD, CLAIM, PREPARE]);
const PLAIN = ['accounts apply', HOLD, SETTLED, ADDRESS, 'keys UpdateItem'];

const KEYED = [...PLAIN, CLAIM, 'idempotency complete', PREPARE].toSorted();

export const scenarios: readonly Scenario[] = [
  {
    title: 'a chat',
    path: '/v1/chat/completions',
    model: LASTING_MODEL,
    body: (mark) => ({ model: LASTING_MODEL, messages: saying(mark), max_tokens: 100 }),
    charged: USED,
    calls: PLAIN,
  },
  {
    title: 'a chat stream',
    path: '/v1/chat/completions',
    model: LASTING_MODEL,
    body: (mark) => ({ model: LASTING_MODEL, messages: saying(mark), max_tokens: 100, stream: true }),
    charged: USED,
    calls: PLAIN,
  },
  {
    title: 'an embedding',
    path: '/v1/embeddings',
    model: 'text-embedding-3-small',
    body: (mark) => ({ model: 'text-embedding-3-small', input: `${mark} ${'word '.repeat(100)}` }),
    charged: { ...USED, completion_tokens: 0 },
    calls: PLAIN,
  },
  {
    title: 'a chat with an idempotency key',
    path: '/v1/chat/completions',
    model: LASTING_MODEL,
    body: (mark) => ({ model: LASTING_MODEL, messages: saying(mark), max_tokens: 100 }),
    headers: (mark) => ({ 'idempotency-key': mark.replaceAll(' ', '-') }),
    charged: USED,
    calls: KEYED,
  },
  {
    title: 'a response with an idempotency key',
    path: '/v1/responses',
    model: 'gpt-5.5-pro',
    body: (mark) => ({ model: 'gpt-5.5-pro', input: mark, max_output_tokens: 100 }),
    headers: (mark) => ({ 'idempotency-key': mark.replaceAll(' ', '-') }),
    charged: USED,
    calls: KEYED,
  },
];

/** The faults of a case, and the status for the client. The charge follows from them. */
export interface Case {
  readonly scripts: readonly Script[];
  readonly status: 200 | 429 | 503;
  /** Whether late calls are executed before or after the sweep. */
  readonly lands: 'before the sweep' | 'after the sweep';
  /**
   * Exception of BILL-14: the charge was written without a reply, and later no record or outbox entry could be written.
   */
  readonly mayBeCharged?: boolean;
}

const kinds = ['fail-before', 'lose-reply', 'hold-back', 'repeat', 'throttle', 'conflict'] as const;
const unseen = ['lose-reply', 'hold-back'] as const;
/** The store client sends a hold once, so no fault executes it twice. */
const kindsOf = (name: string) => kinds.filter((kind) => !(name === HOLD && kind === 'repeat'));
const once = (name: string, kind: FaultKind, turn = 0): Script => ({ name, kind, turn });
const ever = (name: string, kind: FaultKind): Script => ({ name, kind, turn: 'all' });
/** LIM-4: a throttled client IP is limited. Any other single fault is recovered. */
const statusOf = ({ name, kind }: Script) => (name === ADDRESS && kind === 'throttle' ? 429 : 200);

export const singles = ({ calls }: Scenario): Case[] =>
  calls.flatMap((name) =>
    kindsOf(name).flatMap((kind) => {
      const script = once(name, kind);
      const ends = { scripts: [script], status: statusOf(script) } as const;
      const early = { ...ends, lands: 'before the sweep' } as const;
      return kind === 'hold-back' ? [early, { ...ends, lands: 'after the sweep' } as const] : [early];
    }),
  );

/**
 * Cases that lose two calls, or a call and its retry. The IP limit is excluded: it is called once, before all others.
 */
export const pairs = ({ calls }: Scenario): Case[] => {
  const names = calls.filter((name) => name !== ADDRESS);
  return names.flatMap((first, index) =>
    names.slice(index).flatMap((second) =>
      unseen.flatMap((one) =>
        unseen.map((other): Case => {
          const scripts = [once(first, one), once(second, other, second === first ? 1 : 0)];
          return { scripts, status: 200, lands: 'before the sweep' };
        }),
      ),
    ),
  );
};

/** Cases in which one kind of call, or all calls, always fail. */
export const lasting = ({ calls }: Scenario): Case[] =>
  (['fail-before', 'lose-reply', 'hold-back', 'throttle', 'conflict'] as const).flatMap((kind) => {
    const row = (name: string, status: Case['status']): Case => ({
      scripts: [ever(name, kind)],
      status,
      lands: 'before the sweep',
    });
    const each = calls.map((name) => row(name, decisive.has(name) ? 503 : statusOf(ever(name, kind))));
    return [...each, row('keys', 503), row('accounts', 503)];
  });

/** Cases in which neither the record nor an outbox entry can be written. */
const neverRecorded: readonly Case[] = (['fail-before', 'throttle', 'conflict', ...unseen] as const).map((kind) => ({
  scripts: [ever(RECORD, kind)],
  status: 503,
  lands: 'before the sweep',
  mayBeCharged: kind === 'lose-reply' || kind === 'hold-back',
}));

/**
 * Cases in which the store recovers before the release record: the record is written, or the existing charge is
 * returned.
 */
const askedAfterwards = (['fail-before', 'lose-reply'] as const).map(
  (kind): Case => ({
    scripts: [ever(SETTLED, kind)],
    status: kind === 'lose-reply' ? 200 : 503,
    lands: 'before the sweep',
  }),
);

export const unrecorded: readonly Case[] = [...neverRecorded, ...askedAfterwards];

/** Whether the provider is called: only after the hold. Failures of the charge come after the one call. */
export const isDispatched = ({ scripts, status }: Case): boolean =>
  status === 200 || scripts.every(({ name }) => name.startsWith(RECORD) || name === PREPARE);

export const isAboutAddress = ({ scripts }: Case): boolean => scripts.some(({ name }) => name === ADDRESS);
