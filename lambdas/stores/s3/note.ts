import * as z from 'zod';
import type { OutboxNote } from '../../core/ledger/outbox.ts';

/** JSON has no number that is large enough for every amount. */
const picos = z
  .string()
  .regex(/^\d{1,38}$/)
  .transform(BigInt);

const noteSchema = z.strictObject({
  record: z.strictObject({
    accountId: z.string().min(1),
    holdId: z.string().min(1),
    requestId: z.string().min(1),
    outcome: z.enum(['settled', 'released']),
    amountPicos: picos,
    at: z.int(),
    reason: z.string().exactOptional(),
    model: z.string().exactOptional(),
    usage: z.record(z.string(), z.number()).exactOptional(),
    prices: z.record(z.string(), picos).exactOptional(),
    overage: z.boolean().exactOptional(),
    implausible: z.boolean().exactOptional(),
    answer: z.string().exactOptional(),
    endUser: z.string().exactOptional(),
    ignored: z.array(z.string()).exactOptional(),
  }),
  holdAmountPicos: picos,
});

export const renderNote = (note: OutboxNote): string =>
  JSON.stringify(note, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

/** Throws an Error, not a StoreError, when this is no note of that hold: money waits in it, and only a person can help. */
export const parseNote = (holdId: string, text: string): OutboxNote => {
  const unreadable = `the note outbox/${holdId} cannot be read`;
  let note: OutboxNote;
  try {
    note = noteSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(unreadable, { cause });
  }
  if (note.record.holdId !== holdId) throw new Error(`${unreadable}: it is of another hold`);
  return note;
};
