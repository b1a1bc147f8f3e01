import { expect, test } from 'vitest';
import type { LocalKeyState } from '../../local/local-account.ts';
import { toWelcome } from '../../local/welcome.ts';

const API_KEY = 'sk-service-dead';

const welcomeWith = (keyState: LocalKeyState, heldUsd = '0'): string =>
  toWelcome({
    url: 'http://127.0.0.1:8787',
    account: { apiKey: API_KEY, keyState, balanceUsd: '3', heldUsd },
    emulators: [['Database', 'SQLite']],
    destinations: [],
  });

test('OPS-6 the commands of the welcome have a working API key', () => {
  const text = welcomeWith({ kind: 'current' });
  expect(text).toContain(`Key      ${API_KEY}\nBalance  3 USD\n\nTry it\n`);
  expect(text).toContain(`\n  export GATEWAY_URL=http://127.0.0.1:8787 GATEWAY_KEY=${API_KEY}\n`);
  expect(text.split(API_KEY).length - 1).toBe(2);
  expect(text).not.toContain('YOUR_API_KEY');
});

test('OPS-6 the welcome has the part of the balance that open holds reserve', () => {
  expect(welcomeWith({ kind: 'current' }, '0.4')).toContain(
    '\nBalance  3 USD, of which 0.4 USD is held by requests that have not ended\n',
  );
});

test('OPS-6 the welcome has a line for each receiver of data that the settings name', () => {
  const emulators = [['Database', 'SQLite']] as const;
  const destinations = [['Traces', 'http://127.0.0.1:4318']] as const;
  const account = { apiKey: API_KEY, keyState: { kind: 'current' }, balanceUsd: '3', heldUsd: '0' } as const;
  const welcome = { url: 'http://127.0.0.1:8787', emulators, destinations };
  expect(toWelcome({ ...welcome, account })).toContain(
    '  Database           SQLite\n\nSends to\n  Traces             http://127.0.0.1:4318\n\nKey',
  );
  expect(toWelcome({ ...welcome, account: undefined })).toContain('\n  Traces             http://127.0.0.1:4318\n');
  expect(welcomeWith({ kind: 'current' })).not.toContain('Sends to');
});

test.each<[LocalKeyState, string]>([
  [
    { kind: 'revoked' },
    "revoked and no longer works. Create another: npm run cli -- keys issue local --reason 'new key'",
  ],
  [{ kind: 'replaced', masked: 'sk-service-AbCd…wxyz' }, 'The account has the newer key sk-service-AbCd…wxyz.'],
])('OPS-6 the welcome with a key in the state %j has its fix and no command with the key', (state, note) => {
  const text = welcomeWith(state);
  expect(text).toContain(note);
  expect(text).not.toContain('keys rotate');
  expect(text).toContain('GATEWAY_KEY=YOUR_API_KEY');
  expect(text.split(API_KEY).length - 1).toBe(1);
});
