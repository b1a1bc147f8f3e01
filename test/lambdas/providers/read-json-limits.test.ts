import { expect, test } from 'vitest';
import { readJson } from '../../../lambdas/providers/read-json.ts';

const answered = (text: string) => ({
  status: 200,
  headers: {},
  body: (async function* () {
    yield Buffer.from(text);
  })(),
  discard: () => undefined,
});

test('BILL-21, ERR-9 a response that is too large uses the allowance, and an invalid one does not', async () => {
  const code = 'upstream_error';
  await expect(readJson(answered('{"long":1}'), 9)).rejects.toMatchObject({ code, usesAllowance: true });
  await expect(readJson(answered('{"long":'), 9)).rejects.toMatchObject({ code, usesAllowance: false });
});
