import { expect, test } from 'vitest';
import { formatOf } from '../../../lambdas/http/render-error.ts';

test.for([
  ['/v1/messages', 'messages'],
  ['/v1/messages/count_tokens', 'messages'],
  ['/v1/messages-else', 'plain'],
  ['/v1beta/models/a:generateContent', 'generate_content'],
  ['/v1/models/a:streamGenerateContent', 'generate_content'],
  ['/v1/models/a%3AcountTokens', 'generate_content'],
  ['/v1/models/a', 'plain'],
  ['/v1beta', 'plain'],
  ['/v1/chat/completions', 'plain'],
] as const)('GEN-3 errors of %s have the shape %s', ([path, shape]) => {
  expect(formatOf(path, {})).toBe(shape);
});

test.for([
  [{}, 'plain'],
  [{ authorization: 'Bearer a' }, 'plain'],
  [{ authorization: 'Bearer a', 'anthropic-version': '2026-10-21' }, 'messages'],
  [{ 'x-api-key': 'a' }, 'messages'],
  [{ 'provider-version': '2023-06-01' }, 'messages'],
  [{ 'x-goog-api-key': 'a' }, 'generate_content'],
  [{ 'x-provider-api-key': 'a' }, 'generate_content'],
] as const)('CAT-7 the lists of models, and their errors, have the format of who sends %j', ([headers, format]) => {
  for (const path of ['/v1/models', '/v1/models/a']) expect(formatOf(path, headers)).toBe(format);
  expect(formatOf('/v1/chat/completions', headers)).toBe('plain');
});
