import { expect, test } from 'vitest';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { createAudioWorld, listen } from './audio-world.ts';

const faults = (['hold', 'putRecord', 'apply'] as const).flatMap((method) =>
  [fails, losesReply].flatMap((fault) => [
    { name: `${method} ${fault.kind} once`, method, fault, turns: 1 },
    { name: `${method} ${fault.kind} always`, method, fault, turns: Number.POSITIVE_INFINITY },
  ]),
);

test.for(faults)('BILL-14 $name: a success is charged once, a failure is free', async ({ method, fault, turns }) => {
  for (const way of ['speak', 'transcribe'] as const) {
    const { deps, clock, log, records, ...world } = await createAudioWorld({
      fault: (called, turn) => (called === method && turn < turns ? fault : undefined),
    });
    const ask = async (): Promise<unknown> => {
      if (way === 'transcribe') return (await world.transcribe()).kind;
      const spoken = await world.speak('Hello');
      const seen: string[] = [];
      if (spoken.kind === 'stream') await spoken.stream.pump(listen(seen));
      return seen.some((line) => line.startsWith('finish')) ? 'answer' : seen;
    };
    const answer = await clock.until(ask().catch((error: unknown) => error));
    const settled = records().filter(({ outcome }) => outcome === 'settled');
    const charged = new Set([...settled.map(({ holdId }) => holdId), ...(await deps.ledger.outbox.list())]);
    const isDown = method === 'hold' && turns > 1;
    const sent = log.filter((call) => call === 'send');
    expect([way, charged.size, sent.length]).toEqual([way, isDown ? 0 : 1, isDown ? 0 : 1]);
    expect(answer).toEqual(isDown ? expect.objectContaining({ code: 'service_unavailable' }) : 'answer');
  }
});
