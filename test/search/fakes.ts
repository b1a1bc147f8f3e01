import type { Claim } from '../../lambdas/core/idempotency/claim-store.ts';
import type { Account } from '../../lambdas/core/ledger/ledger.ts';
import { MemoryClaimStore } from '../support/memory/memory-claim-store.ts';
import { MemoryLedgerStore } from '../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import type { Answer, Op } from './operations.ts';
import { ACCOUNT, CAPPED, KEY, newWorld, type World } from './world.ts';

/** Limit of the cap of each test, in pico-USD. */
const CAP_PICOS = 150n;

/** Runs the calls of the search on the in-memory fakes that the contract tests compare with the real engine. */
export class Fakes {
  readonly #ledger = new MemoryLedgerStore();
  readonly #outbox = new MemoryOutbox();
  readonly #claims = new MemoryClaimStore();

  async open(creditedPicos: bigint): Promise<World> {
    await this.#ledger.createAccount(ACCOUNT, 0);
    await this.#ledger.credit({ accountId: ACCOUNT, ref: 'first', amountPicos: creditedPicos, reason: 'test', at: 0 });
    this.#ledger.setCap(ACCOUNT, CAPPED, { limitPicos: CAP_PICOS, kind: 'day' }, 0);
    const [account] = this.#ledger.accounts();
    return newWorld(creditedPicos, account?.caps);
  }

  /** Everything stored, in the form of the search. */
  async world(): Promise<World> {
    const [account] = this.#ledger.accounts();
    if (!account) throw new Error('the account does not exist');
    return {
      account: { ...account, version: 0 },
      sweepAtMs: this.#ledger.sweepAtOf(ACCOUNT),
      records: new Map(this.#ledger.recordsOf(ACCOUNT).map((record) => [record.holdId, record])),
      notes: new Map(this.#outbox.notes().map((note) => [note.record.holdId, note])),
      claim: this.#claims.claimOf(KEY),
      credits: new Map(this.#ledger.creditRecordsOf(ACCOUNT).map((record) => [record.ref, record])),
    };
  }

  async execute(op: Op): Promise<Answer | undefined> {
    return (await this.#onLedger(op)) ?? (await this.#onOutbox(op)) ?? (await this.#onClaim(op));
  }

  async #onLedger(op: Op): Promise<Answer | undefined> {
    switch (op.kind) {
      case 'hold': {
        const reply = await this.#ledger.hold(op.request);
        return { kind: 'hold', refusedBy: reply.kind === 'refused' ? counted(reply.account) : undefined };
      }
      case 'putRecord':
        return { kind: 'putRecord', reply: await this.#ledger.putRecord(op.record) };
      case 'apply':
        return { kind: 'apply', applied: (await this.#ledger.apply(op.record, op.holdAmountPicos, 0)) !== undefined };
      case 'readAccount':
        return { kind: 'readAccount', holds: (await this.#ledger.readAccount(ACCOUNT))?.holds ?? new Map() };
      case 'readRecord':
        return { kind: 'readRecord', record: await this.#ledger.readRecord(ACCOUNT, op.holdId) };
      case 'due':
        return { kind: 'due', due: await this.#ledger.due(op.nowMs) };
      case 'credit':
        return { kind: 'credit', reply: await this.#ledger.credit(op.request) };
      case 'readCredits':
        return { kind: 'readCredits', records: this.#ledger.creditRecordsOf(ACCOUNT) };
      case 'reschedule':
        await this.#ledger.reschedule(ACCOUNT, op.sweepAtMs, op.dueMs);
        return { kind: 'reschedule' };
      case 'sweepBy':
        await this.#ledger.sweepBy(ACCOUNT, op.sweepAtMs);
        return { kind: 'sweepBy' };
      default:
        return undefined;
    }
  }

  async #onOutbox(op: Op): Promise<Answer | undefined> {
    switch (op.kind) {
      case 'putNote':
        await this.#outbox.put(op.note);
        return { kind: 'putNote' };
      case 'readNote':
        return { kind: 'readNote', note: await this.#outbox.read(op.holdId) };
      case 'listNotes':
        return { kind: 'listNotes', holdIds: [...(await this.#outbox.list())].sort() };
      case 'removeNote':
        await this.#outbox.remove(op.holdId);
        return { kind: 'removeNote' };
      default:
        return undefined;
    }
  }

  async #onClaim(op: Op): Promise<Answer | undefined> {
    const claims = this.#claims;
    switch (op.kind) {
      case 'claim':
        return { kind: 'claim', reply: await claims.claim(op.request) };
      case 'renew':
        return { kind: 'renew', isOwner: await claims.renew(KEY, op.owner, op.leaseUntilMs) };
      case 'prepare':
        return { kind: 'prepare', isOwner: await claims.stageResponse(KEY, op.owner, op.prepared, op.expiresAtMs) };
      case 'complete':
        return { kind: 'complete', isOwner: await claims.complete(KEY, op.owner) };
      case 'free':
        return { kind: 'free', isOwner: await claims.free(KEY, op.owner, op.dispatches) };
      case 'takeOver':
        return { kind: 'takeOver', reply: await claims.takeOver(op.request) };
      case 'readClaim':
        return { kind: 'readClaim', claim: await this.#read() };
      default:
        return undefined;
    }
  }

  async #read(): Promise<Claim | undefined> {
    return this.#claims.read(KEY);
  }
}

const counted = (account: Account): Account => ({ ...account, version: 0 });
