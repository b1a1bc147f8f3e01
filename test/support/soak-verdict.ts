import type { SoakAnswer } from './soak-client.ts';
import type { SoakResult } from './soak-run.ts';
import { type Trend, trendOf } from './soak-samples.ts';

export interface Verdict {
  /** One line per problem. Empty if there is none. */
  readonly complaints: readonly string[];
  /** Table for a reader. */
  readonly table: string;
}

/** A server notices only with its next call that its store is available again. */
const AFTERMATH_MS = 2_500;
const RSS_SLACK_BYTES = 16 * 1_048_576;
const DESCRIPTOR_SLACK = 16;
/** With fewer samples, the medians of quarters prove nothing. */
const SAMPLES_MIN = 60;
/** With fewer calls, a program is still warming up, however long a slow machine takes for them. */
const TREND_CALLS_MIN = 3_000;

export function judgeSoak(result: SoakResult): Verdict {
  const { answers, audits, crashes } = result;
  // Excludes samples of the outage, in which a server has few connections.
  const samples = result.samples.filter(({ at }) => !inOutage({ startedAt: at, endedAt: at }, result));
  const unexplained = answers.filter((answer) => !isExplained(answer, result));
  const rss = trendOf(samples, 'rssBytes', RSS_SLACK_BYTES);
  const descriptors = trendOf(samples, 'descriptors', DESCRIPTOR_SLACK);
  const hasTrend = samples.length >= SAMPLES_MIN && answers.length >= TREND_CALLS_MIN;
  const complaints = [
    ...unexplained.map((answer) => `${answer.call.kind}: ${answer.outcome} (${answer.requestId})`),
    ...moneyComplaints(result),
    ...replayComplaints(answers),
    ...audits.breaks.map((one) => `audit: ${one}`),
    ...crashes,
    ...(hasTrend && !rss.isFlat ? ['memory grows'] : []),
    ...(hasTrend && !descriptors.isFlat ? ['descriptors grow'] : []),
  ];
  return { complaints, table: toTable({ ...result, samples }, { rss, descriptors }) };
}

type Times = Pick<SoakAnswer, 'startedAt' | 'endedAt'>;

const inOutage = ({ startedAt, endedAt }: Times, { outage }: SoakResult): boolean =>
  startedAt <= outage.to + AFTERMATH_MS && endedAt >= outage.from;

/**
 * Whether the charge was written without confirmation, no outbox entry could be written, and the error message says so
 * (BILL-14).
 */
const isTruthfulLoss = ({ text, requestId }: SoakAnswer, { charged }: SoakResult): boolean =>
  text.includes('charged the response and then lost it') && requestId !== undefined && charged.has(requestId);

/** Whether the call overlaps a stall. There is none on a quiet machine. */
const inStall = ({ startedAt, endedAt }: Times, { stalls }: SoakResult): boolean =>
  stalls.some(({ from, to }) => startedAt <= to && endedAt >= from);

/** Outcomes that a fault of the provider can have. */
const vendorFaults = /^(?:(?:429|502|503|504) |event )/;
const outageFaults = /^(?:503 service_unavailable|event service_unavailable|409 idempotency_in_progress)$/;

const isExplained = (answer: SoakAnswer, result: SoakResult): boolean => {
  const { outcome, call } = answer;
  if (outcome === 'good' || outcome === 'left') return true;
  if (call.faulty && vendorFaults.test(outcome) && !outcome.includes('internal_error')) return true;
  if (!inOutage(answer, result) && !inStall(answer, result)) return false;
  return outageFaults.test(outcome) || isTruthfulLoss(answer, result);
};

/**
 * Reports successful calls without a charge, and charges for failed calls. A client that left may be charged. The audit
 * checks calls during the outage.
 */
const moneyComplaints = (result: SoakResult): string[] =>
  result.answers.flatMap((answer) => {
    const { call, outcome, requestId, replayed } = answer;
    if (requestId === undefined || call.free || replayed || outcome === 'left') return [];
    const isCharged = result.charged.has(requestId);
    if (outcome === 'good') return isCharged ? [] : [`${call.kind}: served and not charged (${requestId})`];
    return isCharged && !inOutage(answer, result) && !inStall(answer, result)
      ? [`${call.kind}: charged for ${outcome} (${requestId})`]
      : [];
  });

const replayComplaints = (answers: readonly SoakAnswer[]): string[] =>
  [...Map.groupBy(answers, ({ call }) => call).values()].flatMap((same) => {
    const [first, second] = same.filter(({ outcome }) => outcome === 'good');
    if (!first || !second) return [];
    if (!second.replayed) return [`${second.call.kind}: answered again (${second.requestId})`];
    return first.text === second.text
      ? []
      : [`${second.call.kind}: repeated with another answer (${second.requestId})`];
  });

const toTable = (result: SoakResult, { rss, descriptors }: { rss: Trend; descriptors: Trend }): string => {
  const { answers, audits, samples, seconds, stalls } = result;
  const stalled = answers.filter(
    ({ outcome, call, ...times }) =>
      outageFaults.test(outcome) && !call.faulty && inStall(times, result) && !inOutage(times, result),
  );
  const kinds = Map.groupBy(answers, ({ call }) => call.kind);
  const count = (some: readonly SoakAnswer[], test: (answer: SoakAnswer) => boolean) =>
    String(some.filter(test).length).padStart(9);
  const row = (name: string, some: readonly SoakAnswer[]): string =>
    [
      name.padEnd(18),
      String(some.length).padStart(9),
      count(some, ({ outcome, replayed }) => outcome === 'good' && !replayed),
      count(some, ({ replayed }) => replayed),
      count(some, ({ outcome }) => outcome === 'left'),
      count(some, (one) => one.call.faulty && one.outcome !== 'good' && one.outcome !== 'left'),
      count(some, (one) => one.outcome !== 'good' && one.outcome !== 'left' && inOutage(one, result)),
    ].join('');
  const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MB`;
  return [
    `${'kind'.padEnd(18)}${['calls', 'answered', 'repeated', 'left', 'faults', 'outage'].map((name) => name.padStart(9)).join('')}`,
    ...[...kinds].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([name, some]) => row(name, some)),
    row('all', answers),
    `${seconds.toFixed(0)} s, ${(answers.length / seconds).toFixed(0)} calls/s; ${audits.read} audits of an account, ${audits.unstable} of them never at rest, ${audits.breaks.length} breaks`,
    `${stalls.length} times the machine was too busy for the store, and ${stalled.length} calls failed at such a time`,
    `memory: second quarter ${megabytes(rss.second)}, last ${megabytes(rss.last)}; descriptors: ${descriptors.second}, ${descriptors.last} (${samples.length} samples)`,
  ].join('\n');
};
