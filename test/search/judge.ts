import { capProblems } from '../../lambdas/core/ledger/audit-caps.ts';
import { creditProblems } from '../../lambdas/core/ledger/audit-credits.ts';
import type { Cap } from '../../lambdas/core/ledger/caps.ts';
import { type CreditRecord, changeOf } from '../../lambdas/core/ledger/credit-record.ts';
import { type Account, heldOf } from '../../lambdas/core/ledger/ledger.ts';
import { Closing } from './closing.ts';
import type { Configuration } from './configuration.ts';
import { requestOf } from './operations.ts';
import type { ClientResult } from './run-actor.ts';
import { ACTORS, type Space, WORLD } from './space.ts';
import type { World } from './world.ts';

/** Finds violations. The verdict on a state depends only on its parts, so each part is judged once. */
export class Judge {
  readonly violations = new Map<string, { readonly state: number; readonly states: number }>();
  readonly documented = new Map<string, { readonly state: number; states: number }>();
  readonly #space: Space;
  readonly #closing: Closing;
  readonly #keyed: readonly string[];
  readonly #worldVerdicts: (readonly string[] | undefined)[] = [];
  readonly #toldVerdicts = new Map<number, readonly Verdict[]>();

  constructor(space: Space) {
    this.#space = space;
    this.#closing = new Closing(space.graph, space.worlds);
    this.#keyed = space.configuration.idempotent ?? [];
  }

  state(index: number, row: Int32Array): void {
    const world = row[WORLD] ?? 0;
    for (const problem of this.#worldProblems(world)) this.#violated(problem, index);
    let success = 0;
    for (let column = ACTORS; column < row.length; column += 1) {
      const { returned, pending } = this.#space.graph.node(row[column] ?? 0);
      for (const { op } of pending) if (this.#holdsTwice(world, op)) this.#violated(HELD_TWICE, index);
      if (returned === 0) continue;
      this.#report(index, this.#verdictsOn(world, returned, false));
      if (this.#keyed.length > 0) success = this.#sameAs(success, returned, index);
    }
  }

  /** IDEM-8: all successes of one idempotency key must be equal. Returns the latest success so far, or 0 for none. */
  #sameAs(before: number, returned: number, index: number): number {
    const words = this.#space.graph.returned.at(returned);
    if (words?.kind !== 'success') return before;
    if (before !== 0 && this.#space.graph.returned.at(before)?.content !== words.content) {
      this.#violated('two different responses for one idempotency key', index);
    }
    return returned;
  }

  #worldProblems(world: number): readonly string[] {
    const known = this.#worldVerdicts[world];
    if (known) return known;
    const problems = worldProblems(this.#space.worlds.at(world), this.#keyed);
    this.#worldVerdicts[world] = problems;
    return problems;
  }

  /** Whether a call places a second hold for a request whose previous hold exists. */
  #holdsTwice(world: number, number: number): boolean {
    const { graph, worlds } = this.#space;
    const op = graph.ops.at(number);
    if (op.kind !== 'hold' || op.request.previousHoldId === undefined) return false;
    return worlds.at(world).account.holds.has(op.request.previousHoldId) && worlds.after(world, number)[0] !== world;
  }

  /** Judges a state in which all actors have ended, with and without the calls still in flight. */
  async end(index: number, world: number, network: number, returned: readonly number[]): Promise<void> {
    const closed = await this.#closing.close(world);
    this.#closed(index, closed, returned);
    let late = closed;
    for (const op of this.#space.network.opsOf(network)) late = this.#space.worlds.after(late, op)[0] ?? late;
    if (late !== closed) this.#closed(index, await this.#closing.close(late), returned);
  }

  #closed(index: number, world: number, returned: readonly number[]): void {
    const { account, notes } = this.#space.worlds.at(world);
    for (const problem of this.#worldProblems(world)) this.#violated(problem, index);
    if (account.holds.size > 0) this.#violated('a hold stays open after all work of sweeper and worker', index);
    if (notes.size > 0) this.#violated('an outbox entry remains after all work of sweeper and worker', index);
    for (const one of returned) if (one !== 0) this.#report(index, this.#verdictsOn(world, one, true));
  }

  #verdictsOn(world: number, returned: number, closed: boolean): readonly Verdict[] {
    const key = (world * 1024 + returned) * 2 + (closed ? 1 : 0);
    const known = this.#toldVerdicts.get(key);
    if (known) return known;
    const words = this.#space.graph.returned.at(returned);
    const verdicts = words ? toldProblems(this.#space.worlds.at(world), words, this.#space.configuration, closed) : [];
    this.#toldVerdicts.set(key, verdicts);
    return verdicts;
  }

  #report(index: number, verdicts: readonly Verdict[]): void {
    for (const { what, documented } of verdicts) {
      if (!documented) this.#violated(what, index);
      else {
        const present = this.documented.get(what);
        if (present) present.states += 1;
        else this.documented.set(what, { state: index, states: 1 });
      }
    }
  }

  #violated(what: string, index: number): void {
    if (!this.violations.has(what)) this.violations.set(what, { state: index, states: 1 });
  }
}

const HELD_TWICE = 'a further id is held while the previous one is held';

interface Verdict {
  readonly what: string;
  readonly documented: boolean;
}

const worldCreditProblems = (account: Account, credits: readonly CreditRecord[]): readonly string[] => {
  const net = credits.reduce((sum, record) => sum + changeOf(record), 0n);
  return [
    ...(account.creditedPicos === net ? [] : ['credited differs from credits - returns']),
    ...creditProblems(credits).map(({ ref, message }) => `${ref}: ${message}`),
  ];
};

/** No charge of the search is above its hold, so no cap is exceeded in any period. */
const worldCapProblems = (account: Account, records: World['records']): readonly string[] => [
  ...(capProblems(account, records.values()).length === 0 ? [] : [CAP_DIFFERS]),
  ...([...account.caps].some(([keyId, cap]) => isExceeded(account, records, keyId, cap)) ? ['a cap is exceeded'] : []),
];

const isExceeded = ({ holds }: Account, records: World['records'], keyId: string, { limitPicos, leftPicos }: Cap) => {
  const used = new Map<string, bigint>();
  const closed = [...records.values()].filter(({ holdId }) => !holds.has(holdId));
  for (const { cap, amountPicos } of [...holds.values(), ...closed]) {
    if (cap?.keyId === keyId) used.set(cap.period, (used.get(cap.period) ?? 0n) + amountPicos);
  }
  return leftPicos < 0n || [...used.values()].some((picos) => picos > limitPicos);
};

const CAP_DIFFERS = 'the rest of a cap differs from its limit - charges - open holds of the period';

/** Conditions that hold in every state. */
const worldProblems = (
  { account, records, sweepAtMs, claim, credits }: World,
  idempotent: readonly string[],
): readonly string[] => {
  const problems: string[] = [
    ...worldCreditProblems(account, [...credits.values()]),
    ...worldCapProblems(account, records),
  ];
  if (account.availablePicos + heldOf(account) !== account.creditedPicos - account.spentPicos) {
    problems.push('available + held differs from credited - spent');
  }
  const settled = [...records.values()].filter(({ outcome }) => outcome === 'settled');
  const closed = settled.filter(({ holdId }) => !account.holds.has(holdId));
  const charged = closed.reduce((sum, { amountPicos }) => sum + amountPicos, 0n);
  if (account.spentPicos > charged) problems.push('spent is more than the settled records of closed holds');
  if (account.spentPicos < charged) problems.push('spent is less than the settled records of closed holds');
  const requests = settled.map(({ requestId }) => requestId);
  if (new Set(requests).size < requests.length) problems.push('two charges for one request');
  if (requests.filter((requestId) => idempotent.includes(requestId)).length > 1)
    problems.push('two charges for one idempotency key');
  for (const { requestId, holdId, answer } of settled) {
    const { prepared } = claim ?? {};
    const isStored = prepared?.holdId === holdId && prepared.hash === answer;
    if (idempotent.includes(requestId) && !isStored)
      problems.push('a charge with an idempotency key without a stored response');
  }
  const answers = [...records.values()].filter(({ requestId, answer }) => answer && idempotent.includes(requestId));
  if (answers.length > 1) problems.push('two responses are committed for one idempotency key');
  if (account.holds.size > 0 && sweepAtMs === undefined) problems.push('an open hold that no sweep can find');
  return problems;
};

/** Conditions on the stored data and the result of one client. `closed`: nothing more can happen. */
const toldProblems = (
  { records, notes }: World,
  returned: ClientResult,
  { idempotent = [], documented, enoughMoney }: Configuration,
  closed: boolean,
): readonly Verdict[] => {
  if (enoughMoney && returned.content === 'insufficient_balance') {
    return [{ what: 'returned insufficient_balance although the balance is sufficient', documented: false }];
  }
  if (enoughMoney && returned.content === 'key_limit_exceeded') {
    return [{ what: 'returned key_limit_exceeded although the cap is sufficient', documented: false }];
  }
  const payers = idempotent.includes(returned.requestId) ? idempotent : [returned.requestId];
  const settled = [...records.values()].filter(
    ({ requestId, outcome }) => outcome === 'settled' && payers.includes(requestId),
  );
  if (returned.kind === 'error') {
    if (!settled.some(({ requestId }) => requestId === returned.requestId)) return [];
    const known = documented?.(returned);
    return [{ what: known ?? `returned ${returned.content} although charged`, documented: known !== undefined }];
  }
  if (settled.length > 0) return [];
  const waits = [...notes.values()].some(
    ({ record }) => payers.includes(requestOf(record.holdId)) && records.get(record.holdId)?.outcome !== 'released',
  );
  if (waits && !closed) return [];
  return [{ what: 'returned a success that is not charged', documented: false }];
};
