import { afterEach, expect, test } from 'vitest';
import type { LocalKeyState } from '../../../local/local-account.ts';
import type { LocalState } from '../../../local/page/ui/wire.ts';
import { ask, startTestPage, type TestPage } from './local-page.ts';

let served: TestPage;
afterEach(() => served.stop());

const readState = async (): Promise<LocalState> =>
  JSON.parse((await ask(served.port, { path: '/local/state?language=en' })).body);

test('OPS-6 a working local key is in the state of the page', async () => {
  served = await startTestPage();
  expect((await readState()).local_key).toEqual({ kind: 'current', value: 'sk-service-test' });
});

test.each<LocalKeyState>([{ kind: 'revoked' }, { kind: 'replaced', masked: 'sk-service-AbCd…wxyz' }])(
  'OPS-6 a local key that is %j is not in the state of the page',
  async (keyState) => {
    served = await startTestPage({}, keyState);
    const { body } = await ask(served.port, { path: '/local/state?language=en' });
    expect(JSON.parse(body).local_key).toEqual(keyState);
    expect(body).not.toContain('sk-service-test');
  },
);

test('the state has the provider of each model of every mode', async () => {
  served = await startTestPage();
  const { model_vendors: vendors } = await readState();
  expect(vendors).toMatchObject({
    'gpt-5.4-pro': 'openai',
    'claude-haiku-4-5': 'anthropic',
    'tts-1': 'openai',
    'flux-2-pro': 'bfl',
    'seedance-2-0-fast': 'byteplus',
  });
});

test('the page may show pictures, sound and videos of its own origin and from memory only', async () => {
  served = await startTestPage();
  const { headers } = await ask(served.port, { path: '/' });
  const policy = headers['content-security-policy']?.toString().split('; ');
  expect(policy).toContain("media-src 'self' blob:");
  expect(policy).toContain("img-src 'self' data:");
});
