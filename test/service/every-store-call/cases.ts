import { LASTING_MODEL, saying } from '../../support/gateway-chat.ts';
import type { FaultKind, Script } from './script.ts';

/** A request whose every call to the store is to go wrong in every way. */
export interface Scenario {
  readonly title: string;
  readonly path: string;
  readonly model: string;
  /** The mark tells this request from the others at the vendor. */
  readonly body: (mark: string) => object;
  readonly headers?: (mark: string) => Readonly<Record<string, string>>;
  readonly charged: { readonly prompt_tokens: number; readonly completion_tokens: number };
  /** Every call of a good request, in the order of the alphabet. */
  readonly calls: readonly string[];
}

export const USED = { prompt_tokens: 70, completion_tokens: 21 };
const ADDRESS = 'counters UpdateItem';
const HOLD = 'accounts hold';
const RECORD = 'accounts record';
const SETTLED = `${RECORD} settled`;
const CLAIM = 'idempotency claim';
const PREPARE = 'idempotency prepare';
/** Without a definite answer to one of these nothing is served. */
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
    title: 'a chat under a key',
    path: '/v1/chat/completions',
    model: LASTING_MODEL,
    body: (mark) => ({ model: LASTING_MODEL, messages: saying(mark), max_tokens: 100 }),
    headers: (mark) => ({ 'idempotency-key': mark.replaceAll(' ', '-') }),
    charged: USED,
    calls: KEYED,
  },
  {
    title: 'a response under a key',
    path: '/v1/responses',
    model: 'gpt-5.5-pro',
    body: (mark) => ({ model: 'gpt-5.5-pro', input: mark, max_output_tokens: 100 }),
    headers: (mark) => ({ 'idempotency-key': mark.replaceAll(' ', '-') }),
    charged: USED,
    calls: KEYED,
  },
];

/** What goes wrong, and what the client gets. Whether it pays follows from that alone. */
export interface Case {
  readonly scripts: readonly Script[];
  readonly status: 200 | 429 | 503;
  /** Late calls land before the sweeper comes, or after it. */
  readonly lands: 'before the sweep' | 'after the sweep';
  /** BILL-14's one exception: the charge was written unseen, and nothing could be written or noted after it. */
  readonly mayBeCharged?: boolean;
}

const kinds = ['fail-before', 'lose-reply', 'hold-back', 'repeat', 'throttle', 'conflict'] as const;
const unseen = ['lose-reply', 'hold-back'] as const;
/** A hold goes over the wire once, so nothing executes it twice. */
const kindsOf = (name: string) => kinds.filter((kind) => !(name === HOLD && kind === 'repeat'));
const once = (name: string, kind: FaultKind, turn = 0): Script => ({ name, kind, turn });
const ever = (name: string, kind: FaultKind): Script => ({ name, kind, turn: 'all' });
/** LIM-4: a flooded address is limited; everything else that happens once is got over. */
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

/** Two calls, or one and its repeat, are lost. The address has its say before everything else, and is asked once. */
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

/** A store that stays away from one kind of call, or altogether. */
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

/** A store that cannot write the record while there is no bucket for a note either. */
const neverRecorded: readonly Case[] = (['fail-before', 'throttle', 'conflict', ...unseen] as const).map((kind) => ({
  scripts: [ever(RECORD, kind)],
  status: 503,
  lands: 'before the sweep',
  mayBeCharged: kind === 'lose-reply' || kind === 'hold-back',
}));

/** The store is back when a released record asks what stands: it is taken, or shows the charge. */
const askedAfterwards = (['fail-before', 'lose-reply'] as const).map(
  (kind): Case => ({
    scripts: [ever(SETTLED, kind)],
    status: kind === 'lose-reply' ? 200 : 503,
    lands: 'before the sweep',
  }),
);

export const unrecorded: readonly Case[] = [...neverRecorded, ...askedAfterwards];

/** Nothing goes to the vendor before the hold, and whatever happens to the charge comes after the one call. */
export const isDispatched = ({ scripts, status }: Case): boolean =>
  status === 200 || scripts.every(({ name }) => name.startsWith(RECORD) || name === PREPARE);

export const isAboutAddress = ({ scripts }: Case): boolean => scripts.some(({ name }) => name === ADDRESS);
