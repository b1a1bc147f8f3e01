import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { BODIES_AT_ONCE, BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { until } from '../../support/gateway-process.ts';
import { type HostileProcess, residentBytes, startHostileProcess } from '../../support/hostile-process.ts';
import { ask } from '../../support/hostile-wire.ts';

const { scripts } = z
  .object({ scripts: z.object({ start: z.string() }) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')));

let gateway: HostileProcess;
beforeAll(async () => {
  gateway = await startHostileProcess(
    {},
    scripts.start.split(' ').filter((word) => word.startsWith('--')),
  );
});
afterAll(() => gateway.stop());

const chat = (apiKey: string, content: string, from?: string) => {
  const body = JSON.stringify({ model: 'gpt-5.4', max_tokens: 16, messages: [{ role: 'user', content }] });
  const headers = [`authorization: Bearer ${apiKey}`];
  return ask(
    gateway.port,
    { method: 'POST', target: '/v1/chat/completions', headers, body, ...(from ? { from } : {}) },
    60_000,
  );
};

test('GEN-14 the memory of large bodies is released although small requests continue', async () => {
  const keys = await Promise.all(Array.from({ length: BODIES_AT_ONCE }, () => gateway.issue('100')));
  for (let call = 0; call < 100; call += 1) await chat(gateway.apiKey, 'hi');
  const quietBytes = residentBytes(gateway.pid);
  const content = 'a'.repeat(BODY_BYTES_MAX - 200);
  await Promise.all(keys.map((apiKey, index) => chat(apiKey, content, `127.0.3.${index + 1}`)));
  expect(residentBytes(gateway.pid)).toBeGreaterThan(quietBytes * 1.5);
  await until(
    'the end of the peak',
    async () => {
      await chat(gateway.apiKey, 'hi');
      return residentBytes(gateway.pid) < quietBytes * 1.5 || undefined;
    },
    120_000,
  );
});
