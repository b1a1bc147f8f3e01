import { expect, test } from 'vitest';
import {
  gif,
  heic,
  inline,
  jpeg,
  linked,
  png,
  prepared,
  refusalOf,
  saying,
  shipped,
  webp,
} from './content-requests.ts';

const blind = { ...shipped(), inputTypes: ['text'] as const, videoLinkHosts: [] };
const first = 'contents[0].parts[0]';
const inResult = (part: object) => saying({ functionResponse: { name: 'draw', parts: [{}, part] } });
const result = `${first}.functionResponse.parts[1]`;

test.for([
  ['image/png', png],
  ['image/jpeg', jpeg],
  ['IMAGE/webp', webp],
  ['image/png', png.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')],
] as const)('CHAT-6 %s is accepted by its first bytes', ([type, data]) => {
  expect(prepared(saying(inline(type, data))).prompt.images).toEqual(['auto']);
  expect(prepared(inResult(inline(type, data))).prompt.images).toEqual(['auto']);
});

test.for([
  ['image/gif', gif],
  ['image/png', gif],
  ['image/heic', heic],
  ['image/png', ''],
  ['image/png', 'not base64'],
  ['image/png', `data:image/png;base64,${png}`],
] as const)('CHAT-6 %s with bytes of no known format is 400: %s', ([type, data]) => {
  const error = refusalOf(saying(inline(type, data)));
  expect(error).toMatchObject({ code: 'invalid_image_format', status: 400, param: `${first}.inlineData.data` });
  expect(error.message).toContain(`${first}.inlineData.data:`);
  expect(refusalOf(inResult(inline(type, data)))).toMatchObject({ param: `${result}.inlineData.data` });
});

test.for(['application/pdf;a=b', 'application/json', '', 'image', 'text', 'png', 'x-image/png'])(
  'GEN-11 inline data of type "%s" is 400',
  (type) => {
    const param = `${first}.inlineData.mimeType`;
    expect(refusalOf(saying(inline(type, png)))).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  },
);

test.for(['image/png', 'video/mp4', 'audio/mp3', 'application/pdf'])(
  'GEN-11 %s is 400 if the entry lacks that input',
  (type) => {
    const error = refusalOf(saying(inline(type, png)), blind);
    expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param: `${first}.inlineData` });
    expect(error.message).toContain('Others.');
    expect(refusalOf(inResult(inline(type, png)), blind)).toMatchObject({ param: `${result}.inlineData` });
  },
);

test.for([
  ['text/plain', 'SGVsbG8='],
  ['TEXT/markdown; charset=utf-8', 'SGVsbG8'],
  ['text/plain;format=flowed', 'SGVsbG8='],
  ['text/csv', 'w7_DvA=='],
  ['text/html', 'SGVs\nbG8=\n'],
  ['text/html', 'SGVsbA=\n=\n'],
  ['text/plain', ''],
] as const)('GEM-1 a document of type %s in base64 is sent on', ([type, data]) => {
  for (const changes of [saying(inline(type, data)), inResult(inline(type, data))]) {
    expect(prepared(changes).body).toMatchObject(changes);
  }
});

test.for([
  ['another encoding', Buffer.from('\xfcber', 'latin1').toString('base64')],
  ['invalid base64', 'Hello, world'],
  ['text after the padding', 'SGVsbG8=SGVsbG8='],
  ['a million spaces and a mark', `SGVsbG8=${' '.repeat(1_000_000)}!`],
  ['a mark after a million spaces', `${' '.repeat(1_000_000)}!`],
] as const)('GEM-1 a document of plain text in %s is 400', ([, data]) => {
  const error = refusalOf(saying(inline('text/plain', data)));
  const param = `${first}.inlineData.data`;
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toBe(`${param}: must be UTF-8 text in base64.`);
  expect(refusalOf(inResult(inline('text/plain', data)))).toMatchObject({ param: `${result}.inlineData.data` });
});

test.for([
  'text/plain;charset=utf-16',
  'Text/Plain; Charset="UTF-16LE"',
  'text/plain; charset=utf-8; charset=utf-16',
  "text/html;charset*=utf-16''a",
])('GEM-1 a document of type %s is 400', (type) => {
  const param = `${first}.inlineData.mimeType`;
  expect(refusalOf(saying(inline(type, 'SGVsbG8=')))).toMatchObject({
    code: 'invalid_request_error',
    status: 400,
    param,
  });
});

test.for([
  'https://example.com/a.mp4',
  'files/abc',
  'gs://youtube.com/a',
  'https://youtube.com.example.com/watch',
  'https://youtube.com@example.com/watch',
  'https://:secret@youtu.be/a',
  'https://www.youtube.com\\@example.com/watch',
  'https://youtu.be/a\\b',
  '',
])('CHAT-7 the link "%s" is 400', (uri) => {
  const error = refusalOf(saying(linked(uri)));
  const param = `${first}.fileData.fileUri`;
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(`${param}:`);
  expect(refusalOf(inResult(linked(uri)))).toMatchObject({ param: `${result}.fileData.fileUri` });
});

test.for(['https://www.youtube.com/watch?v=a', 'http://youtu.be/a', 'HTTPS://YouTube.com/watch?v=a'])(
  'CHAT-7 the link %s counts as one recording for a model with video input',
  (uri) => {
    expect(prepared(saying(linked(uri))).prompt.recordings).toBe(1);
    expect(refusalOf(saying(linked(uri)), blind)).toMatchObject({ param: `${first}.fileData.fileUri` });
    const deaf = { ...shipped(), inputTypes: ['text', 'image'] as const };
    expect(refusalOf(saying(linked(uri)), deaf)).toMatchObject({ param: `${first}.fileData` });
  },
);

test('CHAT-7 a link must be to a video', () => {
  const link = linked('https://youtu.be/a', { mimeType: 'image/png' });
  expect(refusalOf(saying(link))).toMatchObject({ param: `${first}.fileData.mimeType` });
});

test('GEN-11 both the bytes and the link of a part are checked', () => {
  const both = { ...inline('image/png', png), ...linked('https://example.com/a') };
  expect(refusalOf(saying(both))).toMatchObject({ param: `${first}.fileData.fileUri` });
  const wrong = { ...inline('image/png', gif), ...linked('https://youtu.be/a') };
  expect(refusalOf(saying(wrong))).toMatchObject({ param: `${first}.inlineData.data` });
});
