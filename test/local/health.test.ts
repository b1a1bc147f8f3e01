import { expect, test } from 'vitest';
import { createHealth, type HealthCheck } from '../../local/health.ts';

test('GEN-10 each code is reported once, and a check that throws has the code check_failed', async () => {
  const throws: HealthCheck = () => {
    throw new Error('/var/lib/gateway is gone');
  };
  const rejects: HealthCheck = () => Promise.reject(new Error('/var/lib/gateway is gone'));
  const checks = [() => ['disk_space'], async () => ['database', 'disk_space'], throws, rejects, () => []];
  expect(await createHealth({ checks })()).toEqual(['disk_space', 'database', 'check_failed']);
  expect(await createHealth({ checks: [] })()).toEqual([]);
});

test('GEN-10 the checks run at most once a second, at any number of requests', async () => {
  let nowMs = 0;
  let runs = 0;
  const check: HealthCheck = () => {
    runs += 1;
    return [`run_${runs}`];
  };
  const health = createHealth({ checks: [check], now: () => nowMs });
  expect(await Promise.all([health(), health(), health()])).toEqual([['run_1'], ['run_1'], ['run_1']]);
  nowMs = 999;
  expect(await health()).toEqual(['run_1']);
  nowMs = 1_000;
  expect(await health()).toEqual(['run_2']);
});
