import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readListedJson } from '../../../lambdas/providers/listed-json.ts';
import { inPieces } from './played-vendor.ts';

const MIB = 1024 * 1024;

/** Splits the text after each of these numbers of bytes. */
const split = (text: string, sizes: readonly number[]): Buffer[] => {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
};

const read = async (...pieces: readonly (string | Uint8Array)[]) => {
  let discarded = 0;
  const discard = (): void => {
    discarded += 1;
  };
  const response = { status: 200, headers: {}, body: inPieces(...pieces), discard };
  const result = await readListedJson(response).then(
    (listed) => ({ listed, error: undefined }),
    (error: unknown) => ({ listed: undefined, error }),
  );
  expect(discarded).toBe(1);
  return result;
};

const listedOf = async (...pieces: readonly (string | Uint8Array)[]) => {
  const { listed, error } = await read(...pieces);
  if (!listed) throw error;
  return listed;
};

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString('utf8');

const answer = {
  object: 'list',
  data: [{ object: 'embedding', embedding: [0.1, -2e-9], note: 'a "]" \\ {"model":"x"} é 😀' }, [[], {}], 'text', null],
  model: 'theirs "quoted"',
  usage: { prompt_tokens: 8, lists: [1, [2]] },
  more: [true],
};
const outline = { ...answer, data: [], more: [] };

test.for([0, 2])(
  'EMB-1 lists of the object are empty in the outline and pass unchanged, indented by %i',
  async (indent) => {
    const text = JSON.stringify(answer, null, indent);
    const listed = await listedOf(text);
    expect(listed.outline).toEqual(outline);
    expect(textOf(listed.withModel(answer.model))).toBe(text);
    expect(JSON.parse(textOf(listed.withModel('our "id"')))).toEqual({ ...answer, model: 'our "id"' });
  },
);

test('EMB-1 bytes of a list are not copied', async () => {
  const piece = Buffer.from(JSON.stringify(answer));
  for (const part of (await listedOf(piece)).withModel('other').filter(({ length }) => length > 60))
    expect(part.buffer).toBe(piece.buffer);
});

test('EMB-1 a text is read the same however it is cut into pieces', async () => {
  const text = JSON.stringify(answer);
  const { length } = Buffer.from(text);
  for (let at = 0; at <= length; at += 1) {
    const listed = await listedOf(...split(text, [at]));
    expect(listed.outline).toEqual(outline);
    expect(JSON.parse(textOf(listed.withModel('ours')))).toEqual({ ...answer, model: 'ours' });
  }
  const bytewise = await listedOf(
    ...split(
      text,
      Array.from({ length }, () => 1),
    ),
  );
  expect(textOf(bytewise.withModel(answer.model))).toBe(text);
});

test('EMB-1 any object of JSON is read like a parser reads it', async () => {
  const member = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.array(fc.jsonValue({ maxDepth: 2 })));
  const name = fc
    .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('model', 'data', '\\', '"'))
    .filter((text) => text !== '__proto__');
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, member), sizes, fc.constantFrom(0, 1), async (object, cuts, indent) => {
      const text = JSON.stringify(object, null, indent);
      const listed = await listedOf(...split(text, cuts));
      const emptied = Object.entries(object).map(([key, value]) => [key, Array.isArray(value) ? [] : value]);
      expect(listed.outline).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(emptied))));
      if (typeof object.model === 'string') expect(textOf(listed.withModel(object.model))).toBe(text);
    }),
  );
});

const text = JSON.stringify(answer);

test('ERR-9 a text that ends early is upstream_error, wherever it ends', async () => {
  for (let end = 0; end < text.length; end += 1) {
    expect((await read(text.slice(0, end))).error).toMatchObject({ code: 'upstream_error' });
  }
});

test.for([
  `${text}x`,
  `${text}{}`,
  `${text}]`,
  `${text} 1`,
  '[]',
  '"text"',
  '1',
  '{"data":[1,2}',
  '{"data":[{]}]}',
  '{"data":[<html>]}',
  '{"data":[1,2],"model":}',
  '{data:[]}',
  `{"data":${'['.repeat(64)}${']'.repeat(64)}}`,
])('ERR-9 %s is upstream_error', async (broken) => {
  expect((await read(broken)).error).toMatchObject({ code: 'upstream_error' });
});

test('ERR-9 more than 1 MiB outside of lists, or 64 MiB, is upstream_error', async () => {
  const filler = 'x'.repeat(MIB);
  expect((await read(`{"data":[],"a":"${filler}"}`)).error).toMatchObject({ code: 'upstream_error' });
  expect((await read(`{"data":["${filler}"]}`)).listed?.outline).toEqual({ data: [] });
  const list = Buffer.alloc(MIB, '1,');
  const long = Array.from({ length: 64 }, () => list);
  expect((await read('{"data":[', ...long, '1]}')).error).toMatchObject({ code: 'upstream_error' });
});

test('ERR-9 a connection that breaks ends the reading with its error', async () => {
  async function* broken() {
    yield Buffer.from('{"data":[1');
    throw new Error('broken');
  }
  const response = { status: 200, headers: {}, body: broken(), discard: () => undefined };
  await expect(readListedJson(response)).rejects.toThrow('broken');
});
