import { describe, expect, test } from 'vitest';
import { frontDoorOf } from '../../../../lambdas/functions/wiring/front-door.ts';
import type { ReadSecret } from '../../../../lambdas/functions/wiring/secrets.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';
import { functionUrlEvent } from '../../http/function-url.ts';

const [V0, V1, V2] = ['origin-secret-number-0', 'origin-secret-number-1', 'origin-secret-number-2'];
const edge = { FRONT_DOOR: 'cloudfront', ORIGIN_SECRET_SECRET: 'arn:origin' };
const refused = { code: 'direct_access_refused' };

interface Stored {
  AWSCURRENT?: string | undefined;
  AWSPREVIOUS?: string | undefined;
}

/** Scene with a secret that a test rotates and whose reads are counted. */
const createScene = (stored: Stored = { AWSCURRENT: V1 }) => {
  const clock = new ManualClock();
  const notices: unknown[] = [];
  const reads: string[] = [];
  let before: () => Promise<void> = async () => undefined;
  const read: ReadSecret = async (name, stage = 'AWSCURRENT') => {
    reads.push(`${name} ${stage}`);
    await before();
    return stored[stage];
  };
  const open = (environment: Readonly<Record<string, string>> = edge) =>
    frontDoorOf(readSettings({ ...noTables, ...environment }), {
      clock,
      notice: (name, details) => notices.push([name, details]),
      read,
    });
  const breakWith = (does: () => Promise<void>) => {
    before = does;
  };
  return { clock, notices, reads, open, stored, breakWith };
};
const sending = (secret: string) => functionUrlEvent({ headers: { 'x-origin-secret': secret } });

test.each([
  ['none', undefined],
  ['api-gateway', { silenceMs: 300_000, commitsStreams: false, commitsJson: false }],
])('AUTH-9 front door %s needs no secret and reads none', async (frontDoor, frontDoorTimeouts) => {
  const { open, reads } = createScene();
  const door = await open({ FRONT_DOOR: frontDoor, ORIGIN_SECRET_SECRET: 'arn:origin' });
  await door.admit(functionUrlEvent());
  expect(door.frontDoorTimeouts).toEqual(frontDoorTimeouts);
  expect(door.addressOf(functionUrlEvent({ headers: { 'x-client-ip': '198.51.100.1' } }))).toBe('203.0.113.7');
  expect(reads).toEqual([]);
});

test.each([
  [{}, { silenceMs: 120_000, commitsStreams: true, commitsJson: true }],
  [
    { EDGE_TIMEOUT_SECONDS: '180', EDGE_JSON_KEEP_ALIVE: 'false' },
    { silenceMs: 180_000, commitsStreams: true, commitsJson: false },
  ],
])('CHAT-11, ERR-6 the time limit of the edge is the one in the settings: %j', async (settings, frontDoorTimeouts) => {
  const { open } = createScene();
  expect((await open({ ...edge, ...settings })).frontDoorTimeouts).toEqual(frontDoorTimeouts);
});

describe('AUTH-9 at the start', () => {
  test('AUTH-9 an edge without a secret is an Error that names the variables', async () => {
    const { open } = createScene();
    await expect(open({ FRONT_DOOR: 'cloudfront' })).rejects.toThrow(/ORIGIN_SECRET.*ORIGIN_SECRET_SECRET.*FRONT_DOOR/);
  });

  test.each([undefined, '', 'short-canary', '                 '])(
    'AUTH-9, ERR-5 a secret of less than 16 characters is rejected and not quoted: "%s"',
    async (value) => {
      const error: unknown = await createScene({ AWSCURRENT: value })
        .open()
        .catch((thrown: unknown) => thrown);
      expect(String(error)).toContain('ORIGIN_SECRET');
      expect(String(error)).not.toContain('canary');
    },
  );

  test('AUTH-9 a secret in ORIGIN_SECRET is used without reading a stored secret', async () => {
    const { open, reads } = createScene();
    const door = await open({ FRONT_DOOR: 'cloudfront', ORIGIN_SECRET: V0 });
    await door.admit(sending(V0));
    await expect(door.admit(sending(V1))).rejects.toMatchObject(refused);
    expect(reads).toEqual([]);
  });

  test.each([undefined, V0])('AUTH-9 the previous value is accepted if there is one: %s', async (previous) => {
    const { open } = createScene({ AWSCURRENT: V1, AWSPREVIOUS: previous });
    const door = await open();
    await door.admit(sending(V1));
    const older = door.admit(sending(V0));
    if (previous) await older;
    else await expect(older).rejects.toMatchObject(refused);
  });

  test.each(['', 'short'])('AUTH-9 a previous value that is too short is ignored: "%s"', async (previous) => {
    const { open } = createScene({ AWSCURRENT: V1, AWSPREVIOUS: previous });
    const door = await open();
    await expect(door.admit(sending(previous))).rejects.toMatchObject(refused);
  });
});

describe('AUTH-9 a secret is rotated', () => {
  test('AUTH-9 the first request with a new secret makes a process read it and keep the old one', async () => {
    const { open, stored, clock, reads } = createScene({ AWSCURRENT: V1, AWSPREVIOUS: V0 });
    const door = await open();
    Object.assign(stored, { AWSCURRENT: V2, AWSPREVIOUS: V1 });
    await clock.advance(60_000);
    await door.admit(sending(V1));
    expect(reads).toHaveLength(2);
    await door.admit(sending(V2));
    await door.admit(sending(V1));
    expect(reads).toHaveLength(4);
    await expect(door.admit(sending(V0))).rejects.toMatchObject(refused);
  });

  test('AUTH-9 wrong secrets cause one read in 10 s and one at a time', async () => {
    const { open, reads, clock } = createScene();
    const door = await open();
    const flood = async () => {
      const answers = await Promise.allSettled(
        Array.from({ length: 200 }, (_, at) => door.admit(sending(`wrong-${at}`))),
      );
      expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(200);
    };
    await flood();
    expect(reads).toHaveLength(2);
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1_000);
      await flood();
    }
    // One read at the start and one in each of six intervals of 10 s, two values each.
    expect(reads).toHaveLength(2 + 6 * 2);
    expect(clock.waiting).toBe(0);
    await door.admit(sending(V1));
  });

  test('AUTH-9 a read that hangs delays wrong secrets for 2 s and valid ones not at all', async () => {
    const { open, clock, breakWith, reads } = createScene();
    const door = await open();
    breakWith(() => new Promise(() => undefined));
    await clock.advance(10_000);
    const wrong = Promise.allSettled([door.admit(sending(V2)), door.admit(sending('wrong'))]);
    await door.admit(sending(V1));
    await clock.advance(1_999);
    expect(clock.waiting).toBe(2);
    await clock.advance(1);
    expect(await wrong).toMatchObject([{ reason: refused }, { reason: refused }]);
    breakWith(async () => undefined);
    await clock.advance(8_000);
    await expect(door.admit(sending(V2))).rejects.toMatchObject(refused);
    expect(reads).toHaveLength(2 + 2 + 2);
  });

  test.each([
    ['cannot be read', () => Promise.reject(new TypeError('canary')), {}, 'TypeError'],
    ['has become too short', async () => undefined, { AWSCURRENT: 'canary' }, 'Error'],
    ['is empty', async () => undefined, { AWSCURRENT: undefined }, 'Error'],
  ])(
    'AUTH-9, ERR-5 a secret that %s leaves the old one valid and is not logged',
    async (_name, does, change, reason) => {
      const { open, stored, clock, breakWith, notices } = createScene();
      const door = await open();
      breakWith(does);
      Object.assign(stored, change);
      await clock.advance(10_000);
      await expect(door.admit(sending(V2))).rejects.toMatchObject(refused);
      await door.admit(sending(V1));
      expect(notices).toEqual([['origin_secret_unreadable', { reason }]]);
    },
  );
});
