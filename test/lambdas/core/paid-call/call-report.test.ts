import { expect, test } from 'vitest';
import { createCallReport } from '../../../../lambdas/core/paid-call/call-report.ts';

const circuit = { providerId: 'openai', modelId: 'gpt-5.4' };

const reported = (caller: { readonly keyId?: string; readonly endpoint?: string } = {}) => {
  let nowMs = 1_000;
  const report = createCallReport({ now: () => nowMs }, caller, circuit);
  const at = (ms: number) => {
    nowMs = ms;
    return report;
  };
  return { report, at };
};

test('BILL-15 a call that never began has a provider and no times', () => {
  const { report } = reported({ keyId: 'k', endpoint: '/v1/responses' });
  expect(report.facts()).toEqual({ keyId: 'k', endpoint: '/v1/responses', provider: 'openai' });
});

test('BILL-15 times of a call are whole ms from the call, and the first of each counts', () => {
  const { at, report } = reported();
  at(2_000).called();
  expect(at(2_100.6).started()).toBe(101);
  expect(at(2_900).started()).toBe(101);
  at(3_000).ended();
  at(4_000).ended();
  expect(report.facts()).toEqual({ provider: 'openai', firstByteMs: 101, totalMs: 1_000 });
});

test('BILL-15 a failed call counts until its failure, and a clock that goes back counts 0', () => {
  const { at } = reported();
  at(2_000).called();
  expect(at(2_250).facts()).toEqual({ provider: 'openai', totalMs: 250 });
  expect(at(1_000).facts()).toEqual({ provider: 'openai', totalMs: 0 });
});
