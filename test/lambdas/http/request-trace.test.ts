import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTraceparent, startTrace } from '../../../lambdas/http/request-trace.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  [`00-${TRACE}-${SPAN}-ff`, true],
  [`cc-${TRACE}-${SPAN}-01`, true],
  [`cc-${TRACE}-${SPAN}-01-later-fields`, true],
])('OPS-19 traceparent %s names the span of the client', (header, sampled) => {
  expect(readTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, sampled });
});

test.each([
  ['no header', undefined],
  ['an empty header', ''],
  ['the invalid version', `ff-${TRACE}-${SPAN}-01`],
  ['an invalid version', `0x-${TRACE}-${SPAN}-01`],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['uppercase digits', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a long span id', `00-${TRACE}-${SPAN}0-01`],
  ['missing flags', `00-${TRACE}-${SPAN}`],
  ['more fields in version 00', `00-${TRACE}-${SPAN}-01-more`],
  ['flags that run on in a later version', `cc-${TRACE}-${SPAN}-01more`],
  ['surrounding space', ` 00-${TRACE}-${SPAN}-01`],
  ['a second line', `00-${TRACE}-${SPAN}-01\n`],
  ['two headers, joined', `00-${TRACE}-${SPAN}-01,00-${TRACE}-${SPAN}-01`],
  ['a very long later version', `cc-${TRACE}-${SPAN}-01-${'x'.repeat(512)}`],
])('OPS-19 traceparent with %s is ignored', (_name, header) => {
  expect(readTraceparent(header)).toBeUndefined();
});

test('OPS-19 traceparent is accepted only in its exact form, whatever the client sends', () => {
  const digits = (length: number, chars = '0123456789abcdef') =>
    fc.string({ unit: fc.constantFrom(...chars), minLength: length, maxLength: length });
  const nearly = fc
    .tuple(
      digits(2),
      digits(32),
      digits(16),
      digits(2, '0123456789abcdefABCDEFg-'),
      fc.constantFrom('', '-', '-x', 'x'),
    )
    .map(([version, trace, span, flags, rest]) => `${version}-${trace}-${span}-${flags}${rest}`);
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 80 }), nearly), (header) => {
      const found = readTraceparent(header);
      if (!found) return;
      expect(header.startsWith(`${header.slice(0, 2)}-${found.traceId}-${found.spanId}-`)).toBe(true);
      expect(found.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      expect(found.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
      expect(header.slice(0, 2)).not.toBe('ff');
      if (header.startsWith('00')) expect(header).toHaveLength(55);
    }),
    { numRuns: 2_000 },
  );
});

test('OPS-19 a request continues the trace of its client, or starts one', () => {
  const newTraceId = () => 'f'.repeat(32);
  const request = { method: 'POST', startedAtMs: 1_000 };
  expect(startTrace(newTraceId, { ...request, traceparent: `00-${TRACE}-${SPAN}-01` })).toEqual({
    ...request,
    traceId: TRACE,
    parent: { traceId: TRACE, spanId: SPAN, sampled: true },
    calls: [],
  });
  expect(startTrace(newTraceId, { ...request, traceparent: 'bad' })).toEqual({
    ...request,
    traceId: 'f'.repeat(32),
    parent: undefined,
    calls: [],
  });
});
