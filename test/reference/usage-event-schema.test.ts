import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toUsageEvent } from '../../lambdas/protocols/account/usage-event.ts';
import { toText } from '../../reference/document.ts';
import { createUsageEventSchema, usageEvent } from '../../reference/usage-event-schema.ts';
import { chargeOf } from '../lambdas/functions/wiring/usage-events-records.ts';

test('OPS-20 the published schema of usage events is up to date', () => {
  const path = join(import.meta.dirname, '../../docs/operations/usage-event.schema.json');
  expect(readFileSync(path, 'utf8') === toText(createUsageEventSchema()), 'Run npm run reference.').toBe(true);
});

test('OPS-20 the schema requires every field of an event, and accepts further ones', () => {
  const record = chargeOf(1);
  const event = Object(toUsageEvent({ ...record, record }, 'gateway-prod'));
  const data = Object(event.data);
  const without = (object: object, name: string) =>
    Object.fromEntries(Object.entries(object).filter(([n]) => n !== name));
  for (const name of Object.keys(event))
    expect([name, usageEvent.safeParse(without(event, name)).success]).toEqual([name, false]);
  for (const name of Object.keys(data)) {
    const changed = { ...event, data: without(data, name) };
    expect([name, usageEvent.safeParse(changed).success]).toEqual([name, false]);
  }
  expect(usageEvent.safeParse({ ...event, more: 1, data: { ...data, more: 1 } }).success).toBe(true);
});

test.each([
  ['an open request', { outcome: 'open' }],
  ['a charge as a number', { cost_usd: 0.1 }],
  ['no charge', { cost_usd: null }],
])('OPS-20 the schema rejects %s', (_, changed) => {
  const record = chargeOf(1);
  const event = toUsageEvent({ ...record, record }, 'gateway-prod');
  expect(usageEvent.safeParse({ ...event, data: { ...event?.data, ...changed } }).success).toBe(false);
});
