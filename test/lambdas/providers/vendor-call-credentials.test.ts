import { expect, test } from 'vitest';
import { createArkVideoWire } from '../../../lambdas/providers/byteplus/video-wire.ts';
import { CredentialChoice } from '../../../lambdas/providers/credential-choice.ts';
import { parseCredentials } from '../../../lambdas/providers/credentials.ts';
import { createLinkedVideo } from '../../../lambdas/providers/linked-video.ts';
import { parseRefusal, toOpenaiError } from '../../../lambdas/providers/openai/errors.ts';
import { createOpenaiVideoWire } from '../../../lambdas/providers/openai/videos-wire.ts';
import { callVendor, type WireOptions } from '../../../lambdas/providers/vendor-call.ts';
import { providerOf } from '../core/text/text-models.ts';
import { type Answer, inPieces, playVendor } from './played-vendor.ts';
import { errorOf, opened, wholeOf } from './video-wire-world.ts';

const baseUrl = 'https://vendor.test/v1';
const provider = providerOf();
const { signal } = new AbortController();

/** Provider with two credentials. The first free one is always chosen. */
const createScene = (...answers: readonly Answer[]) => {
  const { options: played, seen } = playVendor(baseUrl, ...answers);
  const state = { now: 0 };
  const choice = new CredentialChoice({
    now: () => state.now,
    random: () => 0,
    notice: (name, details) => void seen.notices.push(`${name} ${details.credential}`),
  });
  const credentials = parseCredentials('A_KEY', '[{"key":"sk-a","name":"one"},{"key":"sk-b","name":"two"}]');
  const options: WireOptions = {
    ...played,
    now: () => state.now,
    access: (providerId, credentialId) => {
      const chosen = choice.choose(providerId, credentials, credentialId);
      if (!chosen) throw new Error('no credential');
      return { baseUrl, ...chosen };
    },
  };
  const call = (changes: { readonly isFree?: true } = {}) =>
    callVendor(options, {
      ...changes,
      provider,
      path: '/a',
      body: {},
      streamed: false,
      signal,
      refuse: (status, body, context) => toOpenaiError(status, parseRefusal(body), context),
    });
  const keys = () => seen.requests.map(({ headers }) => headers.authorization);
  return { options, call, keys, state, notices: seen.notices };
};

const [A, B] = ['Bearer sk-a', 'Bearer sk-b'];
const limited = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds }, body: {} });

test('ERR-10 a call with a limited credential is one call; the next call uses another credential', async () => {
  const { call, keys, notices, state } = createScene(limited('40'), { body: {} });
  const error = await errorOf(call());
  expect([error.code, error.retryAfterSeconds, error.ignoredByCircuit]).toEqual(['upstream_capacity', 40, true]);
  expect(keys()).toEqual([A]);
  await call();
  state.now = 39_999;
  await call();
  state.now = 40_000;
  await call();
  expect(keys()).toEqual([A, B, B, A]);
  expect(notices).toEqual(['credential_limited one']);
});

test('ERR-10 a 429 of a free call pauses no credential', async () => {
  const { call, keys, notices } = createScene(limited('40'), { body: {} });
  expect((await errorOf(call({ isFree: true }))).code).toBe('upstream_capacity');
  await call();
  expect([keys(), notices]).toEqual([[A, A], []]);
});

test('ERR-10 the pause is 1 to 300 s, whatever the provider sends', async () => {
  const { call, keys, state } = createScene(limited('99999'), { body: {} });
  await errorOf(call());
  state.now = 300_000;
  await call();
  expect(keys()).toEqual([A, A]);
});

test('ERR-10 a 429 counts for the circuit when no other credential is free', async () => {
  const { call } = createScene(limited('10'));
  expect((await errorOf(call())).ignoredByCircuit).toBe(true);
  const last = await errorOf(call());
  expect([last.ignoredByCircuit, last.upstreamFailed]).toEqual([false, true]);
});

test('ERR-10 a 529 concerns all credentials, so it starts no pause', async () => {
  const { call, keys, notices } = createScene({ status: 529, body: {} });
  expect((await errorOf(call())).ignoredByCircuit).toBe(false);
  await errorOf(call());
  expect([keys(), notices]).toEqual([[A, A], []]);
});

test.each([
  [401, { error: { code: 'invalid_api_key' } }],
  [403, undefined],
  [429, { error: { code: 'insufficient_quota' } }],
])('ERR-10 the rejection %i of a credential is reported; that of the last one as ERR-3', async (status, body) => {
  const { call, keys, notices } = createScene({ status, ...(body && { body }) });
  for (let index = 0; index < 2; index += 1) {
    const error = await errorOf(call());
    expect([error.code, error.upstreamFailed]).toEqual(['service_unavailable', false]);
  }
  expect(keys()).toEqual([A, B]);
  expect(notices).toEqual(['credential_refused one', 'credential_refused two', 'vendor_refused_us openai']);
});

test('ERR-5 a message that quotes the key of its credential is shown without it', async () => {
  const { call } = createScene({ status: 400, body: { error: { message: 'bad key sk-a' } } });
  expect((await errorOf(call())).message).toBe('bad key [redacted]');
});

const linkedVideo = createLinkedVideo();

const wires: readonly [string, typeof createOpenaiVideoWire, object][] = [
  ['OpenAI', createOpenaiVideoWire, { id: 'job-1', status: 'completed' }],
  ['BytePlus', createArkVideoWire, { id: 'job-1', status: 'running' }],
];

test.each(wires)('VID-9 a job of %s is polled with the credential that created it', async (_name, create, body) => {
  const { options, call, keys, notices } = createScene(limited('60'), { body });
  const wire = create({ ...options, linkedVideo });
  await errorOf(call());
  const created = await wire.create({
    provider,
    upstreamModel: 'vendor-name',
    prompt: 'A cat',
    seconds: 4,
    width: 1280,
    height: 720,
    signal,
  });
  const own = { provider, ...created, signal };
  await wire.poll(own);
  const another = options.access(provider.id).credentialId;
  expect(created).toEqual({ upstreamId: 'job-1', credentialId: another });
  const first = parseCredentials('A_KEY', 'sk-a')[0]?.id;
  await wire.poll({ ...own, credentialId: first });
  expect(keys()).toEqual([A, B, B, A]);
  expect(notices).toEqual(['credential_limited one']);
  await wire.poll({ ...own, credentialId: undefined });
  expect(keys().at(-1)).toBe(B);
});

test('VID-9 the file is fetched with the credential of the job', async () => {
  const { options, keys } = createScene({ body: { status: 'completed' } }, { body: inPieces('ftypmovie!') });
  const [, second] = parseCredentials('A_KEY', '[{"key":"sk-a"},{"key":"sk-b"}]');
  const job = { provider, upstreamId: 'job-1', credentialId: second?.id, signal };
  expect(await wholeOf(await opened(await createOpenaiVideoWire({ ...options, linkedVideo }).poll(job)))).toBe(
    'ftypmovie!',
  );
  expect(keys()).toEqual([B, B]);
});

test.each([
  ['OpenAI', createOpenaiVideoWire],
  ['BytePlus', createArkVideoWire],
])('VID-9 a job of %s that another credential does not know is not lost', async (_name, create) => {
  const { options, notices } = createScene({ status: 404, body: { error: { code: 'NotFound', message: 'No job' } } });
  const poll = (credentialId: string | undefined) =>
    create({ ...options, linkedVideo }).poll({ provider, upstreamId: 'job-1', credentialId, signal });
  const [first] = parseCredentials('A_KEY', 'sk-a');
  expect(await poll('0123456789abcdef')).toEqual({ kind: 'unknown' });
  expect(await poll(first?.id)).toEqual({ kind: 'gone' });
  expect(notices).toEqual(['credential_missing 0123456789abcdef']);
});
