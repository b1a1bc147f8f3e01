import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { CAP, type Face, faces } from './faces.ts';
import { type ReportedUsage, type Script, scriptOf, type TokenCounts } from './scripts.ts';

/** Behavior of the provider after its last event: it ends, breaks off, reports a failure, or pauses. */
export const afterwards = ['ends', 'resets', 'closes', 'fails', 'stalls'] as const;
export type Afterwards = (typeof afterwards)[number];

export type ClientPart =
  | 'stays'
  | 'does not read'
  | { readonly leavesAfter: number; readonly how: 'resets' | 'closes' };

export interface LifeCase {
  readonly title: string;
  readonly tag: string;
  readonly face: Face;
  readonly script: Script;
  readonly reported: ReportedUsage;
  /** Number of events that the provider sends. */
  readonly sent: number;
  readonly afterwards: Afterwards;
  readonly client: ClientPart;
}

/** Expected result of a stream. */
export type Fate = 'charged' | 'without final usage' | 'upstream_error' | 'upstream_timeout';

/** Returns the expected result by BILL-9 and BILL-10, from the events that the provider sent. */
export const fateOf = ({ face, script, sent, afterwards }: LifeCase): Fate => {
  const { counted, done, finished } = script;
  if (sent >= done) {
    if (sent >= counted) return 'charged';
    return face.wire === 'responses' ? 'upstream_error' : 'without final usage';
  }
  if (afterwards === 'fails') return 'upstream_error';
  if (sent >= counted) return 'charged';
  if (afterwards === 'stalls') return 'upstream_timeout';
  // A provider without an end event is complete after its finish reasons.
  const isOver = afterwards === 'ends' && done === Number.POSITIVE_INFINITY && sent >= finished;
  return isOver ? 'without final usage' : 'upstream_error';
};

/**
 * Returns the counts that a case is charged by. A missing or unreadable count never erases an earlier one (BILL-10).
 * Undefined if the provider reported none.
 */
export const countsOf = (one: LifeCase): TokenCounts | undefined => {
  const fate = fateOf(one);
  if (isError(fate)) return undefined;
  return fate === 'charged' && typeof one.reported === 'object' ? one.reported : one.script.running;
};

export const isError = (fate: Fate): fate is 'upstream_error' | 'upstream_timeout' =>
  fate === 'upstream_error' || fate === 'upstream_timeout';

/** Response to a client that stays (ERR-4): a status other than 200, or the words and their end. */
export interface Given {
  readonly status: number;
  readonly words: readonly string[];
  readonly code: string | undefined;
  readonly isWhole: boolean;
}

export const givenBy = (one: LifeCase): Given => {
  const { face, script, sent } = one;
  const fate = fateOf(one);
  const words = script.words.filter(({ place }) => place <= sent).map(({ word }) => word);
  if (!isError(fate)) return { status: 200, words, code: undefined, isWhole: true };
  // One second of silence after an announcement starts the stream.
  const isBegun = sent > face.opening || (one.afterwards === 'stalls' && sent > 0);
  if (isBegun) return { status: 200, words, code: fate, isWhole: false };
  return { status: new GatewayError(fate, '').status, words: [], code: fate, isWhole: false };
};

/** Token counts that differ per case and are below the hold. */
const reportedBy = (index: number): ReportedUsage & object => ({
  input: 100 + (index % 1_000),
  output: 10 + (index % 100),
});

type Draft = Omit<LifeCase, 'tag' | 'script' | 'reported' | 'title'> & {
  readonly rules: string;
  readonly what: string;
  readonly reported?: ReportedUsage;
  readonly padding?: readonly number[];
};

const toCase = ({ rules, what, padding, ...draft }: Draft, index: number): LifeCase => {
  const tag = `tag-${String(index).padStart(4, '0')}`;
  const reported = draft.reported ?? reportedBy(index);
  const script = scriptOf(draft.face.wire, tag, reported, padding);
  return { ...draft, title: `${rules} ${draft.face.name}: ${what} (${tag})`, tag, reported, script };
};

const lengthOf = ({ wire }: Face): number => scriptOf(wire, '', reportedBy(0)).events.length;

/** Cases for each path and each number of events, from none to all. */
const everywhere = (toDrafts: (face: Face, place: number, of: number) => readonly Draft[]): readonly Draft[] =>
  faces.flatMap((face) => {
    const of = lengthOf(face);
    return Array.from({ length: of + 1 }, (_, place) => toDrafts(face, place, of)).flat();
  });

const how = (place: number) => (place % 2 === 0 ? 'resets' : 'closes');

const leaving = everywhere((face, place, of) => {
  const client = { leavesAfter: place, how: how(place) } as const;
  const draft = { face, client } as const;
  const breaksOff = place % 3 === 0 ? 'fails' : how(place + 1);
  return [
    { ...draft, rules: 'BILL-8', what: `left after ${place}, provider completes`, sent: of, afterwards: 'ends' },
    {
      ...{ ...draft, rules: 'BILL-8, BILL-9', sent: place, afterwards: breaksOff },
      what: `left after ${place} of ${of}, provider ${breaksOff}`,
    },
  ];
});

const cuts = everywhere((face, sent, of) =>
  (['ends', how(sent)] as const).map((afterwards) => ({
    ...{ rules: 'BILL-9', face, sent, afterwards, client: 'stays' },
    what: `the provider ${afterwards} after ${sent} of ${of}`,
  })),
);

const failures = everywhere((face, sent, of) => [
  {
    ...{ rules: 'BILL-9, ERR-9', face, sent, afterwards: 'fails', client: 'stays' },
    what: `the provider fails after ${sent} of ${of}`,
  },
]);

const uncounted: readonly Draft[] = faces.flatMap((face) =>
  (['missing', 'unreadable'] as const).flatMap((reported) => {
    const sent = scriptOf(face.wire, '', reported).events.length;
    const draft = { rules: 'BILL-10', face, reported, sent, afterwards: 'ends' } as const;
    const client = { leavesAfter: 3, how: 'resets' } as const;
    return [
      { ...draft, what: `a complete response, its usage ${reported}`, client: 'stays' } as const,
      { ...draft, what: `left, its usage ${reported}`, client },
    ];
  }),
);

/** Usage above the hold, and output above the cap. */
const excessive: readonly Draft[] = faces.flatMap((face) => {
  const of = lengthOf(face);
  const draft = { rules: 'BILL-7', face, sent: of } as const;
  const beyondHold = { input: 2_050, output: CAP };
  const beyondCap = { input: 20, output: CAP + 1_500 };
  return [
    { ...draft, reported: beyondHold, afterwards: 'ends', client: 'stays', what: 'more than was held' },
    { ...draft, reported: beyondHold, afterwards: 'resets', client: 'stays', what: 'more than was held, and a reset' },
    {
      ...{ ...draft, reported: beyondHold, afterwards: 'ends', what: 'left, and more than was held' },
      client: { leavesAfter: 3, how: 'closes' },
    },
    { ...draft, reported: beyondCap, afterwards: 'ends', client: 'stays', what: 'more than the cap' },
  ] as const;
});

/** Nine MiB, more than a connection buffers. */
export const padding = Array.from({ length: 144 }, () => 65_536);

const unread: readonly Draft[] = faces.flatMap((face) => {
  const of = scriptOf(
    face.wire,
    '',
    reportedBy(0),
    padding.map(() => 0),
  ).events.length;
  const draft = { face, client: 'does not read', padding } as const;
  return [
    { ...draft, rules: 'BILL-8', sent: of, afterwards: 'ends', what: '9 MiB without a reader' },
    {
      ...draft,
      rules: 'BILL-8, BILL-9',
      sent: of - 3,
      afterwards: 'closes',
      what: 'a cut-off stream without a reader',
    },
    { ...draft, rules: 'BILL-8, BILL-9', sent: of - 3, afterwards: 'fails', what: 'a failed stream without a reader' },
  ] as const;
});

const stalls = everywhere((face, sent, of) => [
  {
    ...{ rules: 'LIM-6, BILL-9', face, sent, afterwards: 'stalls', client: 'stays' },
    what: `silent after ${sent} of ${of}`,
  },
  {
    ...{ rules: 'LIM-6, BILL-8, BILL-9', face, sent, afterwards: 'stalls' },
    client: { leavesAfter: sent, how: how(sent) },
    what: `left and silent after ${sent} of ${of}`,
  },
]);

const quick: readonly Draft[] = [...leaving, ...cuts, ...failures, ...uncounted, ...excessive];

export const quickCases = quick.map(toCase);
export const unreadCases = unread.map((draft, index) => toCase(draft, index + 2_000));
/** Each case takes the full provider deadline. */
export const slowCases = stalls.map((draft, index) => toCase(draft, index + 4_000));
