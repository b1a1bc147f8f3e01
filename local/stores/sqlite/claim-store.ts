import * as z from 'zod';
import {
  type Claim,
  type ClaimRef,
  type ClaimReply,
  type ClaimRequest,
  type ClaimStore,
  type PreparedAnswer,
  toKnownClaim,
} from '../../../lambdas/core/idempotency/claim-store.ts';
import { type Database, numberOf, type Row, textOf } from './database.ts';
import { jsonOf, toJson } from './json-column.ts';

type TakeOver = Parameters<ClaimStore['takeOver']>[0];
type TakeOverReply = Awaited<ReturnType<ClaimStore['takeOver']>>;

const OWNED = 'account_id = ? AND key_hash = ? AND owner = ?';
/** The owner has neither completed nor freed the claim. */
const AT_WORK = `${OWNED} AND state IN ('open', 'prepared')`;

/**
 * Claims in SQLite. Everything is durable when it resolves, so that a replay never shows a response that a power cut
 * could undo. Renewals are not: a power cut also ends the request that renewed.
 */
export const createClaimStore = (db: Database): ClaimStore => {
  /** Whether the statement changed the claim. Its last three parameters are the key and the owner. */
  const change = ({ accountId, keyHash }: ClaimRef, owner: string, sql: string, ...values: (string | number)[]) =>
    db.sql(sql).run(...values, accountId, keyHash, owner) === 1;
  return {
    claim: (request) => db.writeDurably(() => claim(db, request)),
    renew: (ref, owner, leaseUntilMs) =>
      // An earlier renewal that arrives late must not shorten the lease.
      db.write(() =>
        change(ref, owner, `UPDATE claims SET lease_until = max(lease_until, ?) WHERE ${AT_WORK}`, leaseUntilMs),
      ),
    stageResponse: (ref, owner, prepared, expiresAtMs) => {
      const sql = `UPDATE claims SET state = 'prepared', prepared = ?, expires_at = ? WHERE ${AT_WORK}`;
      return db.writeDurably(() => change(ref, owner, sql, toJson(prepared), expiresAtMs));
    },
    complete: (ref, owner) => {
      const sql = `UPDATE claims SET state = 'done' WHERE ${OWNED} AND state IN ('prepared', 'done')`;
      return db.writeDurably(() => change(ref, owner, sql));
    },
    free: (ref, owner, dispatches) => {
      const sql = `UPDATE claims SET state = 'free', dispatches = ?, prepared = NULL WHERE ${AT_WORK}`;
      return db.writeDurably(() =>
        dispatches === 0
          ? change(ref, owner, `DELETE FROM claims WHERE ${AT_WORK}`)
          : change(ref, owner, sql, dispatches),
      );
    },
    takeOver: (request) => db.writeDurably(() => takeOver(db, request)),
    read: (ref) => db.read(() => readClaim(db, ref)),
  };
};

const claim = (db: Database, request: ClaimRequest): ClaimReply => {
  const present = readClaim(db, request);
  const isNew = !present || (present.expiresAtMs <= request.nowMs && present.leaseUntilMs <= request.nowMs);
  if (!isNew && !mayGoOn(present, request))
    return isOwn(present, request.owner)
      ? { kind: 'claimed', dispatches: present.dispatches }
      : { kind: 'refused', claim: present };
  const dispatches = isNew ? 1 : present.dispatches + 1;
  open(db, { ...request, dispatches });
  return { kind: 'claimed', dispatches };
};

const mayGoOn = (present: Claim, { fingerprint, dispatchesMax }: ClaimRequest): boolean =>
  present.state === 'free' && present.fingerprint === fingerprint && present.dispatches < dispatchesMax;

const takeOver = (db: Database, request: TakeOver): TakeOverReply => {
  const present = readClaim(db, request);
  if (!present) return { kind: 'refused', claim: undefined };
  if (isOwn(present, request.owner)) return { kind: 'taken', dispatches: present.dispatches };
  const isAtWork = present.owner === request.from && (present.state === 'open' || present.state === 'prepared');
  if (!isAtWork || present.leaseUntilMs > request.nowMs) return { kind: 'refused', claim: present };
  const dispatches = present.dispatches + 1;
  open(db, { ...request, fingerprint: present.fingerprint, dispatches });
  return { kind: 'taken', dispatches };
};

/**
 * Whether the caller repeats a write whose reply was lost. Owners are unique, so an open claim of this owner comes from
 * that write.
 */
const isOwn = (present: Claim, owner: string): boolean => present.owner === owner && present.state === 'open';

type Opening = ClaimRef & Pick<Claim, 'owner' | 'leaseUntilMs' | 'fingerprint' | 'dispatches' | 'expiresAtMs'>;

const open = (db: Database, opening: Opening): void => {
  const { accountId, keyHash, owner, leaseUntilMs, fingerprint, dispatches, expiresAtMs } = opening;
  db.sql(
    `INSERT OR REPLACE INTO claims (account_id, key_hash, owner, lease_until, fingerprint, state, dispatches, expires_at)
     VALUES (?, ?, ?, ?, ?, 'open', ?, ?)`,
  ).run(accountId, keyHash, owner, leaseUntilMs, fingerprint, dispatches, expiresAtMs);
};

const readClaim = (db: Database, { accountId, keyHash }: ClaimRef): Claim | undefined => {
  const row = db.sql('SELECT * FROM claims WHERE account_id = ? AND key_hash = ?').get(accountId, keyHash);
  return row && toClaim(row);
};

const toClaim = (row: Row): Claim =>
  toKnownClaim(
    {
      owner: textOf(row, 'owner'),
      leaseUntilMs: numberOf(row, 'lease_until'),
      fingerprint: textOf(row, 'fingerprint'),
      dispatches: numberOf(row, 'dispatches'),
      expiresAtMs: numberOf(row, 'expires_at'),
      prepared: row.prepared === null ? undefined : jsonOf(row, 'prepared', preparedSchema),
    },
    textOf(row, 'state'),
  );

const preparedSchema: z.ZodType<PreparedAnswer> = z.object({
  holdId: z.string(),
  hash: z.string(),
  content: z.union([
    z.object({ objectName: z.string() }),
    z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() }),
  ]),
});
