import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as z from 'zod';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import type { AccountNumbers, LedgerEvent } from '../../web/local-page/wire.ts';

const text = z.object({ S: z.string() }).transform(({ S }) => S);
const amount = z.object({ N: z.string() }).transform(({ N }) => BigInt(N));

const accountSchema = z.object({
  pk: text,
  available: amount,
  credited: amount,
  spent: amount,
  version: amount,
  holds: z.object({ M: z.record(z.string(), z.object({ M: z.object({ amount }) })) }),
});

const chargeSchema = z.object({
  holdId: text,
  outcome: text,
  amount,
  model: text.optional(),
  reason: text.optional(),
});

type Account = z.output<typeof accountSchema>;
type Charge = z.output<typeof chargeSchema>;

/** Charges whose hold was never seen to go, since it had been given up before. */
const CHARGES_MAX = 1_000;

/** Turns what was written to the accounts table into what happened to money, in the order of the writes. */
export function createLedgerFeed(publish: (event: LedgerEvent) => void): (changes: DynamoDBStreamEvent) => void {
  const charges = new Map<string, Charge>();
  const versions = new Map<string, bigint>();

  const takeCharge = (record: DynamoDBRecord): void => {
    const { data: charge } = chargeSchema.safeParse(record.dynamodb?.NewImage);
    if (!charge) return;
    charges.set(charge.holdId, charge);
    const [oldest] = charges.keys();
    if (oldest !== undefined && charges.size > CHARGES_MAX) charges.delete(oldest);
  };

  const takeAccount = (record: DynamoDBRecord): void => {
    const { data: after } = accountSchema.safeParse(record.dynamodb?.NewImage);
    // Whatever is told twice happened once.
    if (!after || after.version < (versions.get(after.pk) ?? 0n)) return;
    versions.set(after.pk, after.version + 1n);
    const { data: before } = accountSchema.safeParse(record.dynamodb?.OldImage);
    const at = (record.dynamodb?.ApproximateCreationDateTime ?? 0) * 1_000;
    for (const event of eventsOf(before ?? nothing(after), after, { at, charges })) publish(event);
  };

  return ({ Records }) => {
    for (const record of Records) {
      const sort = record.dynamodb?.Keys?.sk?.S ?? '';
      if (sort.startsWith('CHARGE#')) takeCharge(record);
      else if (sort === 'ACCOUNT') takeAccount(record);
    }
  };
}

const nothing = (account: Account): Account => ({
  ...account,
  available: 0n,
  credited: 0n,
  spent: 0n,
  holds: { M: {} },
});

type Circumstances = { readonly at: number; readonly charges: Map<string, Charge> };

function eventsOf(before: Account, after: Account, { at, charges }: Circumstances): readonly LedgerEvent[] {
  const numbers = toNumbers(after);
  const write = { account: numbers.account, at, numbers };
  const credited = after.credited - before.credited;
  const placed = Object.entries(after.holds.M).filter(([id]) => !(id in before.holds.M));
  const gone = Object.entries(before.holds.M).filter(([id]) => !(id in after.holds.M));
  return [
    ...(credited > 0n ? [{ ...write, kind: 'credited' as const, amount_usd: formatUsd(credited) }] : []),
    ...placed.map(([hold, { M }]) => ({ ...write, kind: 'held' as const, hold, amount_usd: formatUsd(M.amount) })),
    ...gone.map(([hold, { M }]) => {
      const charge = charges.get(hold);
      charges.delete(hold);
      const amount_usd = formatUsd(charge?.amount ?? after.spent - before.spent);
      const kind = charge?.outcome === 'released' ? ('released' as const) : ('settled' as const);
      const { model, reason } = charge ?? {};
      return { ...write, kind, hold, held_usd: formatUsd(M.amount), amount_usd, model, reason };
    }),
  ];
}

function toNumbers({ pk, available, credited, spent, holds }: Account): AccountNumbers {
  const held = Object.values(holds.M).reduce((sum, { M }) => sum + M.amount, 0n);
  return {
    account: pk.slice('account#'.length),
    balance_usd: formatUsd(credited - spent),
    available_usd: formatUsd(available),
    held_usd: formatUsd(held),
    open_holds: Object.keys(holds.M).length,
  };
}
