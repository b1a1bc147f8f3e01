import { describe, expect, test } from 'vitest';
import { withUnreadBody } from '../../../lambdas/http/body-source.ts';
import { addressBucket, createEdgeFrontDoor, type FrontDoor, openFrontDoor } from '../../../lambdas/http/front-door.ts';
import { createChain } from './chain.ts';
import { functionUrlEvent, invoke, type Sent } from './function-url.ts';

const SECRET = 'the-secret-of-the-edge';
const OLDER = 'the-secret-before-that-one';
const HEADER = 'x-origin-secret';
const frontDoorTimeouts = { silenceMs: 120_000, commitsStreams: true, commitsJson: true };

/** Front door whose secrets a test changes, with a counter of their reads. */
const openEdge = (valid: readonly string[] = [SECRET, OLDER], later = valid) => {
  let known = valid;
  let refreshes = 0;
  const frontDoor = createEdgeFrontDoor(
    {
      current: () => known,
      refresh: async () => {
        refreshes += 1;
        known = later;
      },
    },
    frontDoorTimeouts,
  );
  return { frontDoor, refreshes: () => refreshes };
};
const withSecret = (secret: string | undefined): Sent => ({
  headers: secret === undefined ? {} : { [HEADER]: secret },
});
const refused = { code: 'direct_access_refused', status: 403 };

describe('AUTH-9 the secret of the edge', () => {
  test.each([
    ['the one that is valid', SECRET],
    ['the one before it', OLDER],
  ])('AUTH-9 %s is accepted, and no newer secret is read', async (_name, secret) => {
    const { frontDoor, refreshes } = openEdge();
    await frontDoor.admit(functionUrlEvent(withSecret(secret)));
    expect(refreshes()).toBe(0);
  });

  test.each([
    ['wrong', 'another-secret-of-16-letters', 1],
    ['a prefix', SECRET.slice(0, -1), 1],
    ['longer', `${SECRET}x`, 1],
    ['in capitals', SECRET.toUpperCase(), 1],
    ['sent twice', `${SECRET},${SECRET}`, 1],
    ['not of ASCII', `${SECRET}é`, 1],
    ['empty', '', 0],
    ['missing', undefined, 0],
  ])('AUTH-9 a secret that is %s is rejected', async (_name, secret, asked) => {
    const { frontDoor, refreshes } = openEdge();
    await expect(frontDoor.admit(functionUrlEvent(withSecret(secret)))).rejects.toMatchObject(refused);
    expect(refreshes()).toBe(asked);
  });

  test.each([[[]], [['']], [['', SECRET]]])('AUTH-9 an empty secret is rejected: %j', async (valid) => {
    const { frontDoor } = openEdge(valid);
    await expect(frontDoor.admit(functionUrlEvent(withSecret('')))).rejects.toMatchObject(refused);
    await expect(frontDoor.admit(functionUrlEvent(withSecret(undefined)))).rejects.toMatchObject(refused);
  });

  test('AUTH-9 a secret newer than the process is accepted once it has been read', async () => {
    const { frontDoor, refreshes } = openEdge([SECRET], ['the-next-secret-of-the-edge', SECRET]);
    await frontDoor.admit(functionUrlEvent(withSecret('the-next-secret-of-the-edge')));
    await frontDoor.admit(functionUrlEvent(withSecret(SECRET)));
    expect(refreshes()).toBe(1);
  });

  test.each([SECRET, 'a-wrong-one-of-some-length', ''])(
    'ERR-5 the header with the secret is removed after the check: "%s"',
    async (secret) => {
      const event = functionUrlEvent({ headers: { [HEADER]: secret, accept: '*/*' } });
      await openEdge()
        .frontDoor.admit(event)
        ?.catch(() => undefined);
      expect(event.headers).not.toHaveProperty(HEADER);
      expect(event.headers.accept).toBe('*/*');
    },
  );
});

const own = { type: 'permission_error', code: 'direct_access_refused', param: null };

/** Paths whose errors have different formats (GEN-3). */
const paths: readonly (readonly [path: string, method: string, shape: object])[] = [
  ['/v1/chat/completions', 'POST', { error: own }],
  ['/v1/messages', 'POST', { type: 'error', request_id: 'OURS1', error: own }],
  ['/v1beta/models/m:generateContent', 'POST', { error: { code: 403, details: [{ reason: own.code }] } }],
  ['/nowhere', 'GET', { error: own }],
  ['/v1/chat/completions', 'OPTIONS', { error: own }],
];

test.each(paths)(
  'AUTH-9, GEN-3, GEN-8 %s %s is rejected in its format before any other check',
  async (path, method, shape) => {
    const chain = await createChain({ frontDoor: openEdge().frontDoor });
    let reads = 0;
    const event = withUnreadBody(
      functionUrlEvent({
        method,
        path,
        headers: { [HEADER]: 'a-wrong-one-of-some-length', authorization: `Bearer ${chain.apiKey}` },
      }),
      {
        declaredBytes: 2,
        read: async () => {
          reads += 1;
          return Buffer.from('{}');
        },
      },
    );
    const answer = await invoke(chain.handler, event);
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text)).toMatchObject(shape);
    expect(answer.headers).toMatchObject({ 'x-request-id': 'OURS1', 'access-control-allow-origin': '*' });
    expect([chain.calls(), chain.handled, reads]).toEqual([[], [], 0]);
    expect(chain.finished).toMatchObject([{ summary: { status: 403, errorCode: 'direct_access_refused' } }]);
    expect(JSON.stringify([answer, chain.finished, event.headers])).not.toContain('a-wrong-one');
  },
);

test("AUTH-9 a request through the edge is served, with the edge's time limit", async () => {
  const chain = await createChain({ frontDoor: openEdge().frontDoor });
  const headers = { [HEADER]: SECRET, authorization: `Bearer ${chain.apiKey}` };
  const answer = await invoke(chain.handler, functionUrlEvent({ path: '/api/account', headers }));
  expect(answer.status).toBe(200);
  expect(chain.handled).toMatchObject([
    { frontDoorTimeouts, event: { headers: { authorization: headers.authorization } } },
  ]);
  expect(JSON.stringify(chain.handled.map(({ event }) => event.headers))).not.toContain(SECRET);
});

describe("OPS-3 the front door's id of a request", () => {
  const CF_ID = 'k7M-ezlNsS9_yAoqUkXkPNAZD9hsrs2ZUd7wJ0Hi5k8nX5u8FlXGjQ==';

  test('OPS-3 the request id of the edge is in the summary, and is ignored without an edge', async () => {
    const headers = { [HEADER]: SECRET, 'x-amz-cf-id': CF_ID };
    const idOf = async (frontDoor?: FrontDoor): Promise<string | undefined> => {
      const { handler, finished } = await createChain(frontDoor ? { frontDoor } : {});
      await invoke(handler, functionUrlEvent({ path: '/api/models', headers }));
      return finished[0]?.summary.frontDoorRequestId;
    };
    expect(await idOf(openEdge().frontDoor)).toBe(CF_ID);
    expect(await idOf()).toBe('aws-request');
  });

  test.each(['', 'a b', 'sk-gw-key\n', 'x'.repeat(129)])(
    'OPS-3 a malformed request id of the edge is not logged: %j',
    (header) => {
      const event = functionUrlEvent({ headers: { 'x-amz-cf-id': header } });
      expect(openEdge().frontDoor.requestIdOf(event)).toBeUndefined();
    },
  );
});

describe('LIM-7 the client address', () => {
  const edge = openEdge().frontDoor;
  const viewer = (address: string | undefined): string | undefined =>
    addressBucket(
      edge.addressOf(
        functionUrlEvent({
          headers: {
            'x-forwarded-for': '198.51.100.1',
            'cloudfront-viewer-address': '198.51.100.2:1',
            ...(address === undefined ? {} : { 'x-client-ip': address }),
          },
        }),
      ),
    );

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
  ])('LIM-7 the client IP is the value that the edge function sets: %s', (header, bucket) => {
    expect(viewer(header)).toBe(bucket);
  });

  test.each([undefined, '', '203.0.113.7:443', '203.0.113.7,198.51.100.1', '[2001:db8::1]'])(
    'LIM-7 without a readable value of the edge function there is no client IP: %s',
    (header) => {
      expect(viewer(header)).toBeUndefined();
    },
  );

  test('LIM-7 without an edge the client IP is the source of the event, and the header is removed', async () => {
    const event = functionUrlEvent({
      headers: { 'x-client-ip': '198.51.100.1', 'x-forwarded-for': '198.51.100.2' },
      sourceIp: '203.0.113.7',
    });
    await openFrontDoor.admit(event);
    expect(openFrontDoor.addressOf(event)).toBe('203.0.113.7');
    expect(event.headers).not.toHaveProperty('x-client-ip');
  });

  test('LIM-7 requests without a client IP are served without its limit, and are counted', async () => {
    const chain = await createChain({ frontDoor: edge });
    const send = (address: string | undefined) =>
      invoke(
        chain.handler,
        functionUrlEvent({
          path: '/api/models',
          headers: { [HEADER]: SECRET, ...(address === undefined ? {} : { 'x-client-ip': address }) },
        }),
      );
    const statuses = async (address: string | undefined) => {
      const replies = await Promise.all(Array.from({ length: 80 }, () => send(address)));
      return replies.filter(({ status }) => status === 429).length;
    };
    expect(await statuses(undefined)).toBe(0);
    expect(chain.finished.every(({ summary }) => summary.lacksClientIp === true)).toBe(true);
    chain.finished.splice(0);
    expect(await statuses('203.0.113.7')).toBeGreaterThan(0);
    expect(chain.finished.some(({ summary }) => summary.lacksClientIp === true)).toBe(false);
  });
});
