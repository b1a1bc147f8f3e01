import { expect, test } from 'vitest';
import { admission, ledger, maintenance, outbox, readOutbox, unionOf } from '../../lib/function-grants.ts';
import { functions } from '../../lib/functions.ts';

const described = (tables: Parameters<typeof unionOf>[0][number]['tables']) =>
  ({ entry: 'a.ts', timeoutSeconds: 1, tables, buckets: [readOutbox, outbox], secrets: ['keyPepper'] }) as const;

test('OPS-1 a union has each grant once, with the actions of all', () => {
  const union = unionOf([described([ledger, maintenance]), described([...admission, ledger])]);
  expect(union.tables).toEqual([
    ledger,
    { table: 'counters', actions: ['GetItem', 'UpdateItem'] },
    { table: 'keys', actions: ['GetItem', 'UpdateItem'] },
  ]);
  expect(union.buckets).toEqual([{ prefix: 'outbox/', actions: ['GetObject', 'ListBucket', 'PutObject'] }]);
  expect(union.secrets).toEqual(['keyPepper']);
});

test('OPS-15 every function that checks the maintenance switch can read it', () => {
  const unchecked = Object.entries(functions).filter(
    ([, { tables }]) => !tables.some(({ table, actions }) => table === 'counters' && actions.includes('GetItem')),
  );
  // The first two only send messages about changes that were made, the third calls the gateway as a client does.
  expect(unchecked.map(([name]) => name)).toEqual(['notices', 'usageEvents', 'canary']);
});
