import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import type { Ending, Planted } from './canaries/kit.ts';
import { type CanaryRequest, canaryRequests } from './canaries/requests.ts';
import { type CanaryScene, keyPlaces, openCanaryScene } from './canaries/scene.ts';
import type { Kept } from './canaries/search.ts';

const PLAY_MS = 600_000;

type Answered = Exclude<Ending, 'killed'>;

/** Possible statuses by ending. A stream can fail with its first event or later, depending on the protocol. */
const statuses: Readonly<Record<'plain' | 'streamed', Record<Answered, readonly number[]>>> = {
  plain: { good: [200], failed: [502], quoted: [400], refused: [400] },
  streamed: { good: [200], failed: [200], quoted: [400, 502], refused: [400] },
};

const requestsOf = (ending: Ending): readonly CanaryRequest[] =>
  canaryRequests.filter(({ only }) => only?.includes(ending) ?? true);

const TRIES = 5;

/** Repeats a request whose store calls took too long, as they can on a busy machine. It was not charged. */
const sendInTime = async (scene: CanaryScene, server: TestProgram, request: CanaryRequest, ending: Answered) => {
  for (let tried = 1; ; tried += 1) {
    const answer = await scene.send(server, request, ending);
    if (answer.status !== 503 || tried === TRIES) return answer;
    await sleep(1_000);
  }
};

const sendAll = async (scene: CanaryScene, server: TestProgram, ending: Answered): Promise<void> => {
  const sending = requestsOf(ending).map(async (request) => {
    const { status, text } = await sendInTime(scene, server, request, ending);
    const expected = statuses[request.streamed ? 'streamed' : 'plain'][ending];
    if (!expected.includes(status)) throw new Error(`${request.name}, ${ending}: ${status} ${text.slice(0, 300)}`);
  });
  await Promise.all(sending);
};

/** Sends invalid credentials, and valid ones in wrong places, of every kind. */
const proveAll = async (scene: CanaryScene, server: TestProgram, number: number): Promise<void> => {
  const doors = canaryRequests.filter(({ name }) => ['chat', 'messages', 'generateContent', 'edits'].includes(name));
  const refused = doors.flatMap((request) => keyPlaces.map((place) => scene.sendWrongKeys(server, request, place)));
  for (const status of (await Promise.all(refused)).flat()) expect(status).toBe(401);
  for (const chat of [1_000 + 2 * number, 1_001 + 2 * number]) {
    expect((await scene.sendUpdate(server, chat, true)).status).toBe(200);
    expect((await scene.sendUpdate(server, chat, false)).status).toBe(401);
    expect((await scene.openApp(server, chat, true)).status).toBe(200);
    expect((await scene.openApp(server, chat, false)).status).toBe(401);
  }
  const { accountId, apiKey } = await scene.openAccount('key in a wrong place', 'refused');
  expect((await scene.topUp(server, accountId, true)).status).toBe(200);
  expect((await scene.topUp(server, accountId, false)).status).toBe(401);
  const wrong = scene.canaries.secret('a wrong origin secret', 'refused');
  const headers = { authorization: `Bearer ${apiKey}`, 'x-origin-secret': wrong };
  expect((await scene.ask(server, `/api/account?key=${apiKey}`, { headers })).status).toBe(403);
  expect((await scene.ask(server, `/nowhere?key=${apiKey}`, {})).status).toBe(404);
};

/** Kills a process during its requests, then starts another one that cleans up. */
const killAll = async (scene: CanaryScene): Promise<void> => {
  const dying = await scene.start('json', { UPSTREAM_DEADLINE_SECONDS: '10', HOLD_GRACE_SECONDS: '1' });
  const requests = requestsOf('killed');
  const replies = requests.map((request) => scene.send(dying, request, 'killed').catch(() => 'broken off'));
  await until('every request to reach the provider', () => scene.vendor.waiting() >= requests.length || undefined);
  await dying.kill('SIGKILL');
  expect(new Set(await Promise.all(replies))).toEqual(new Set(['broken off']));
  // With a short limit, videos that have not started at the provider are abandoned.
  await scene.start('line', { VIDEO_CREATE_SECONDS: '2' });
  await scene.untilSettled();
};

interface Found extends Planted {
  readonly kind: string;
}

let scene: CanaryScene;
let kept: readonly Kept[];
let found: readonly Found[];

beforeAll(async () => {
  scene = await openCanaryScene();
  const servers = [await scene.start('json'), await scene.start('line')];
  for (const [number, server] of servers.entries()) {
    for (const ending of ['good', 'failed', 'quoted', 'refused'] as const) await sendAll(scene, server, ending);
    await proveAll(scene, server, number);
  }
  await killAll(scene);
  kept = await scene.everythingKept();
  found = kept.flatMap(({ kind, text }) => scene.canaries.foundIn(text).map((planted) => ({ kind, ...planted })));
}, PLAY_MS);
afterAll(() => scene.stop());

interface Allowance {
  readonly kind: string;
  readonly place: RegExp;
  readonly endings: readonly Ending[];
}

const endUser = /: (user|metadata\.user_id)$/;

/** Allowed places of client data in stored data, each with its reason. */
const allowances: readonly Allowance[] = [
  // CHAT-15: the log line of a request and its charge record contain the client's end user id.
  { kind: 'log json', place: endUser, endings: ['good', 'failed', 'quoted', 'refused'] },
  { kind: 'table accounts', place: endUser, endings: ['good'] },
  // IDEM-7: a stored response contains the model's output, or the provider's error message.
  { kind: 'table idempotency', place: /^keyed (chat|responses|images|videos): /, endings: ['good', 'quoted'] },
  // A large stored response is an object in the bucket.
  { kind: 'bucket answers/', place: /^keyed chat with a large answer: user message$/, endings: ['good'] },
  // VID-1 and VID-7: the job record has the prompt for its owner, and the webhook URL.
  {
    ...{ kind: 'table videos', place: /^(keyed )?videos( by form)?: (prompt|webhook_url)$/ },
    endings: ['good', 'failed', 'quoted', 'killed'],
  },
];

const fits = (one: Found, { kind, place, endings }: Allowance): boolean =>
  one.kind === kind && !one.isSecret && place.test(one.place) && endings.includes(one.ending);

const told = ({ kind, place, ending }: Found): string => `${kind}: ${place}, ${ending}`;

const leaksIn = (part: string): readonly string[] => {
  const leaks = found.filter(
    (one) => one.kind.startsWith(part) && !allowances.some((allowance) => fits(one, allowance)),
  );
  return [...new Set(leaks.map(told))];
};

/** Returns the texts of a kind. Tests check that there are some, because a search in no text would always pass. */
const textsOf = (part: string): readonly string[] =>
  kept.filter(({ kind }) => kind.startsWith(part)).map(({ text }) => text);

test('ERR-5 the log contains no client data or credential, in either log format', () => {
  const lines = textsOf('log ').map((text) => text.split('\n').length);
  expect(lines).toHaveLength(4);
  expect(Math.min(...lines)).toBeGreaterThan(10);
  expect(scene.canaries.places.size).toBeGreaterThan(100);
  expect(leaksIn('log ')).toEqual([]);
});

test('OPS-19 the exported traces contain no client data or credential', () => {
  const spans =
    textsOf('trace')
      .join()
      .match(/"traceId"/g) ?? [];
  expect(spans.length).toBeGreaterThan(300);
  expect(leaksIn('trace')).toEqual([]);
});

test.each(['accounts', 'keys', 'idempotency', 'counters', 'videos'])(
  'ERR-5 the table %s contains client data or credentials only where a rule allows it',
  (table) => {
    expect(textsOf(`table ${table}`).length).toBeGreaterThan(0);
    expect(leaksIn(`table ${table}`)).toEqual([]);
  },
);

test.each(['answers/', 'media/', 'videos/'])(
  'ERR-5 objects under %s contain client data or credentials only where a rule allows it',
  (prefix) => {
    expect(textsOf(`bucket ${prefix}`).length).toBeGreaterThan(0);
    expect(leaksIn('bucket ')).toEqual([]);
  },
);

test('ERR-5 the state machine of videos receives no prompt or other request data', () => {
  expect(textsOf('machine').length).toBeGreaterThan(0);
  for (const text of textsOf('machine')) expect(text).toContain('"input":"{\\"videoId');
  expect(leaksIn('machine')).toEqual([]);
});

test('ERR-5 no response contains a credential', () => {
  expect(textsOf('answer').length).toBeGreaterThan(200);
  const leaks = found.filter(({ kind, isSecret }) => kind === 'answer' && isSecret);
  expect([...new Set(leaks.map(told))]).toEqual([]);
});

/** Every allowance must be used. This detects allowances that are too wide, and a search that finds nothing. */
test.each(allowances)('IDEM-7 CHAT-15 VID-1 the $kind contains the data that its rule stores', (allowance) => {
  const held = new Set(found.filter((one) => fits(one, allowance)).map(({ ending }) => ending));
  expect([...held].sort()).toEqual([...allowance.endings].sort());
});
