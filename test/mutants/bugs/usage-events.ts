import { bugsIn, type MoneyBug } from './money-bug.ts';

const eventTests = 'test/lambdas/protocols/account/usage-event.test.ts';
const handlerTests = 'test/lambdas/functions/wiring/usage-events-handler.test.ts';
const busTests = 'test/lambdas/stores/eventbridge/event-bus.test.ts';
const queueTests = 'test/local/stores/sqlite/usage-events.test.ts';
const endpointTests = 'test/local/usage-endpoint.test.ts';
const streamTests = 'test/local/usage-stream.test.ts';

/** Mistakes by which an operator misses receipts, or counts them twice. */
export const usageEventBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/protocols/account/usage-event.ts', eventTests, [
    {
      id: 'usage-event-id-of-the-delivery',
      what: 'A repeated usage event has another id, and the receiver counts its charge twice.',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Source text.
      find: 'id: `${accountId}/${holdId}`,',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Source text.
      replace: 'id: `${accountId}/${holdId}/${performance.now()}`,',
    },
    {
      id: 'usage-event-of-an-abandoned-hold',
      what: 'A receiver gets receipts that no list of receipts shows.',
      find: "if (record?.reason === 'given_up') return undefined;",
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/functions/wiring/usage-events-handler.ts', handlerTests, [
    {
      id: 'failed-usage-event-acknowledged',
      what: 'A charge record whose event failed counts as delivered, and its receipt is lost.',
      find: '(event !== undefined && failed.has(event.id))',
      replace: '(event !== undefined && failed.size < 0)',
    },
    {
      id: 'unnamed-charge-record-acknowledged',
      what: 'A stream record that names no item counts as delivered, and no queue keeps it.',
      find: '!isNamed || (event',
      replace: '(event',
    },
  ]),
  ...bugsIn('lambdas/stores/eventbridge/event-bus.ts', busTests, [
    {
      id: 'rejected-entry-acknowledged',
      what: 'An entry that EventBridge rejects counts as accepted, and its receipt is lost.',
      find: 'Entries[index]?.EventId === undefined',
      replace: 'Entries[index] === undefined',
    },
    {
      id: 'accepted-entries-sent-again',
      what: 'One rejected entry repeats all entries of its call.',
      find: 'batch.filter(({ id }) => failed.has(id)),',
      replace: 'batch.filter(() => failed.size > 0),',
    },
  ]),
  ...bugsIn('local/stores/sqlite/usage-events.ts', queueTests, [
    {
      id: 'usage-queue-forgets-failures',
      what: 'An event leaves the queue although its delivery failed.',
      find: 'if (failed.has(charge)) {',
      replace: 'if (failed.size < 0) {',
    },
    {
      id: 'usage-queue-reuses-numbers',
      what: 'A slow delivery removes the event of a newer charge.',
      find: 'seq INTEGER PRIMARY KEY AUTOINCREMENT,',
      replace: 'seq INTEGER PRIMARY KEY,',
    },
    {
      id: 'usage-event-before-its-charge',
      what: 'A receiver gets a charge that a power cut undoes.',
      find: 'const charges = await db.read(',
      replace: 'const charges = await db.peek(',
    },
  ]),
  ...bugsIn('local/usage-endpoint.ts', endpointTests, [
    {
      id: 'redirect-confirms-usage-events',
      what: 'A redirect counts as a confirmation, and its receipts are lost.',
      find: 'return response.ok ?',
      replace: 'return response.status < 400 ?',
    },
  ]),
  ...bugsIn('local/usage-stream.ts', streamTests, [
    {
      id: 'usage-position-before-the-delivery',
      what: 'The position in the stream moves although the delivery failed, and a restart loses receipts.',
      find: 'const delivered = first === undefined ? batch : batch.slice(0, batch.indexOf(first));',
      replace: 'const delivered = batch;',
    },
  ]),
];
