import fc from 'fast-check';
import { type RouteName, routes } from '../../../lambdas/routes.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const lines = (text: string): readonly string[] => text.trim().split(/\s*\n\s*/);

/** Text with one character per byte value. */
const rawText = (maxLength: number, max = 255): fc.Arbitrary<string> =>
  fc.string({ unit: fc.integer({ min: 0, max }).map((code) => String.fromCharCode(code)), maxLength });

/** Mostly text that HTTP accepts, so it reaches the gateway. Sometimes text that breaks the request. */
const mostly = (passing: fc.Arbitrary<string>, breaking: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 12, arbitrary: passing }, { weight: 1, arbitrary: breaking });

const method = mostly(
  fc.constantFrom(...words('GET GET GET POST POST POST POST PUT DELETE PATCH OPTIONS TRACE PROPFIND')),
  fc.constantFrom('get', 'FOO', 'G\0T', 'POST\t', ''),
);

const pathJunk = mostly(
  fc.constantFrom(
    ...words(`%00 %2f %2F.. // /.. /../.. /. / % %zz %c0%ae %ff %e2%82 %f0%9f%98%80 %25%32%66 ;a=b ? ?? ?% ?a=%ff&a=%00
      ?a&a&__proto__=1 ?constructor[prototype][x]=1 ?key=%00 ?key=a&key=b ?alt=sse ?alt=sse&alt=json ?alt=__proto__ :
      :generateContent :countTokens?key= %3AgenerateContent :generateContent:countTokens :stream%47enerateContent {id} __proto__ constructor @ :80 http://a.test * | ^`),
    'a'.repeat(3_000),
    `?${'a=1&'.repeat(2_000)}`,
  ),
  fc.oneof(fc.constantFrom('\xe9', '\xff', ' ', '\t', '\0', '\x7f', '#x', '\\', '\u00a0', '\n'), rawText(20)),
);

const names: RouteName[] = [];
let name: RouteName;
for (name in routes) names.push(name);

/** Path of a route, half of the time with text within, before or after it. */
const target = fc
  .record({ name: fc.constantFrom(...names), id: pathJunk, at: fc.nat(30), junk: pathJunk, mutated: fc.boolean() })
  .map(({ name, id, at, junk, mutated }) => {
    const path = routes[name].path.replace(/\{\w+\}/, id);
    const cut = at % (path.length + 1);
    return mutated ? `${path.slice(0, cut)}${junk}${path.slice(cut)}` : path;
  });

const header = mostly(
  fc.constantFrom(
    ...lines(`authorization: Bearer
      authorization: Basic eDp5
      authorization: Bearer a b
      x-api-key: a
      x-api-key: Bearer a
      x-provider-api-key: a
      x-goog-api-key: sk-service-a
      provider-version: 2023-06-01
      anthropic-version: 2026-10-21
      anthropic-version: {}
      anthropic-beta: everything
      content-encoding: gzip
      content-encoding:
      content-type: multipart/form-data
      content-type: application/json; charset=utf-16
      x-request-id: mine
      x-forwarded-for: 10.0.0.1
      forwarded: for=1
      x-http-method-override: DELETE
      cookie: a=b; __proto__=1
      cookie: ;;;
      __proto__: 1
      constructor: 1
      origin: null
      range: bytes=0-
      accept:
      te: trailers
      upgrade: websocket
      connection: x-request-id
      keep-alive: 1
      expect: 100-continue
      access-control-request-method: POST
      x-service-fallback-model: __proto__
      transfer-encoding: chunked`),
    'idempotency-key: \xe9',
    'authorization: \x80\xff',
    `x-long: ${'a'.repeat(8_000)}`,
  ),
  fc.oneof(
    fc.constantFrom('a b: 1', ': 1', 'a', 'a:\0', 'a: b\nc: d', 'a: b\rc: d', ' folded: 1', 'content-type: \x01'),
    fc.constantFrom('content-length: 0', 'content-length: -1', 'content-length: 1e3', 'content-length: 0x10'),
    fc.constantFrom('transfer-encoding: gzip', 'transfer-encoding: chunked, identity', `x: ${'a'.repeat(40_000)}`),
    rawText(40),
  ),
);

/** Bytes that are not text, text that is not JSON, and JSON that is not a request. */
const body = fc.oneof(
  fc
    .constantFrom(
      ...lines(`{
        {}
        []
        null
        "
        {"a":1e400}
        {"a":
        {"model":"gpt-4.1-mini","messages":[]}
        {"model":"claude-haiku-4-5","max_tokens":"9","messages":[{"role":"user","content":"hi"}]}
        {"contents":[{"parts":[{"text":1}]}]}
        {"input":"hi"}
        {"__proto__":{"polluted":1}}
        a=b&c=d
        <a/>`),
      ...['', ' ', '\0', '--x\r\n\r\n--x--\r\n', '0\r\n\r\n', 'GET /health HTTP/1.1\r\n\r\n', '['.repeat(5_000)],
    )
    .map((text) => Buffer.from(text)),
  fc
    .constantFrom(
      ...words(`efbbbf7b7d fffe7b007d00 feff007b007d 7b2261223a22c0af227d 7b2261223a22eda080227d 7b2261223a22f8888080227d
        1f8b08000000000000 789c ff 80 c3`),
    )
    .map((hex) => Buffer.from(hex, 'hex')),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

const chunked = (bytes: Buffer): Buffer => {
  const piece = [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')];
  return Buffer.concat([...(bytes.length > 0 ? piece : []), Buffer.from('0\r\n\r\n')]);
};

/** The API key in every header that some route reads. */
const keyLines = (apiKey: string): readonly string[] => [
  `authorization: Bearer ${apiKey}`,
  ...['x-api-key', 'x-provider-api-key', 'x-goog-api-key'].map((name) => `${name}: ${apiKey}`),
];

/**
 * One request as bytes, with or without a valid key. It never announces more than it sends, because the server would
 * wait. HTTP/1.0 and 2.0 are excluded: the end of their responses is the end of the connection.
 */
export const hostileRequest = (apiKey: string): fc.Arbitrary<Buffer> =>
  fc
    .record({
      ...{ method, target, body, headers: fc.array(header, { maxLength: 4 }), key: fc.boolean() },
      version: mostly(fc.constant('1.1'), fc.constantFrom('1.1x', '1', '')),
    })
    .map(({ method, target, headers, body, key, version }) => {
      const framed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
      const head = [
        ...[`${method} ${target} HTTP/${version}`, 'host: gateway.test', 'connection: close'],
        ...(key ? keyLines(apiKey) : []),
        ...(framed ? headers : [...headers, `content-length: ${body.length}`]),
      ];
      const sent = headers.includes('transfer-encoding: chunked') ? chunked(body) : body;
      return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), sent]);
    });
