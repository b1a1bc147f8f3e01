import {
  embeddings,
  generateContent,
  having,
  messages,
  moderations,
  type PostRoute,
  responses,
  videos,
} from './hostile-routes.ts';

const many = (entry: (index: number) => string): string =>
  Array.from({ length: 10_000 }, (_, index) => entry(index)).join();

/** Names and values that no protocol has, beside the fields of each. */
export const strange: readonly (readonly [what: string, members: string, param: string])[] = [
  ['1e400', '"a":1e400', 'a'],
  ['-1e400 further in', '"a":{"b":[0,-1e400]}', 'a.b[1]'],
  ['__proto__', '"__proto__":{"polluted":1}', '__proto__'],
  ['__proto__ further in', '"a":[{"__proto__":null}]', 'a[0].__proto__'],
  ['constructor', '"constructor":{"prototype":{"polluted":1}}', 'constructor'],
  ['prototype', '"prototype":{}', 'prototype'],
  ['toString', '"toString":1', 'toString'],
  ['hasOwnProperty', '"hasOwnProperty":1', 'hasOwnProperty'],
  ['an empty name', '"":1', ''],
  ['a name with a zero byte', '"\\u0000":1', '\u0000'],
  ['10,000 unknown names', many((index) => `"k${index}":1`), 'k0'],
  ['a name of a million letters', `"${'n'.repeat(1_000_000)}":1`, `${'n'.repeat(100)}…`],
  ['a message of another protocol', '"prompt":"hi"', 'prompt'],
];

const I = 'invalid_request_error';
const broken = many(() => '0');
const png = 'data:image/png;base64,AAAA';
const M = 'invalid_messages';
const F = 'invalid_image_format';
const claudeImage = (data: string): string =>
  having(
    messages,
    `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}]}]`,
  );
const imageItem = (url: string): string =>
  having(responses, `"input":[{"role":"user","content":[{"type":"input_image","image_url":"${url}"}]}]`);
const inline = (data: string): string =>
  having(generateContent, `"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"${data}"}}]}]`);
const long = 'u'.repeat(257);

/** What is wrong with fields that each protocol has. */
export const wrong: readonly (readonly [what: string, route: PostRoute, body: string, code: string, param: string])[] =
  [
    ['1e400', responses, having(responses, '"temperature":1e400'), I, 'temperature'],
    ['10,000 broken items', responses, having(responses, `"input":[${broken}]`), I, 'input[0]'],
    ['a number as input', responses, having(responses, '"input":1'), I, 'input'],
    [
      '__proto__ in an item',
      responses,
      having(responses, '"input":[{"role":"user","content":"a","__proto__":1}]'),
      I,
      'input[0].__proto__',
    ],
    ['an image that is none', responses, imageItem(png), F, 'input[0].content[0].image_url'],
    ['an image in a file', responses, imageItem('file:///etc/passwd'), F, 'input[0].content[0].image_url'],
    [
      'a data URI without an end',
      responses,
      imageItem(`data:image/png;${'a'.repeat(16_000_000)}`),
      F,
      'input[0].content[0].image_url',
    ],
    ['a user of 257 characters', responses, having(responses, `"user":"${long}"`), I, 'user'],
    [
      'a memory',
      responses,
      having(responses, '"previous_response_id":"resp_1"'),
      'unsupported_parameter',
      'previous_response_id',
    ],
    ['1e400', messages, having(messages, '"temperature":1e400'), I, 'temperature'],
    ['10,000 broken messages', messages, having(messages, `"messages":[${broken}]`), M, 'messages[0]'],
    ['messages as an object', messages, having(messages, '"messages":{"0":{},"length":1}'), M, 'messages'],
    ['no messages', messages, '{"model":"claude-haiku-4-5","max_tokens":1}', M, 'messages'],
    ['no cap', messages, '{"model":"claude-haiku-4-5","messages":[{"role":"user","content":"hi"}]}', I, 'max_tokens'],
    [
      '__proto__ in a block',
      messages,
      having(messages, '"messages":[{"role":"user","content":[{"type":"text","text":"a","__proto__":1}]}]'),
      I,
      'messages[0].content[0].__proto__',
    ],
    ['an image that is none', messages, claudeImage('AAAA'), F, 'messages[0].content[0].source.data'],
    [
      'an image of 16 million letters that is none',
      messages,
      claudeImage('a'.repeat(16_000_000)),
      F,
      'messages[0].content[0].source.data',
    ],
    ['a user of 257 characters', messages, having(messages, `"metadata":{"user_id":"${long}"}`), I, 'metadata.user_id'],
    [
      'an effort within thinking',
      messages,
      having(messages, '"thinking":{"type":"adaptive","effort":"low"}'),
      I,
      'thinking.effort',
    ],
    [
      '1e400',
      generateContent,
      having(generateContent, '"generationConfig":{"temperature":1e400}'),
      I,
      'generationConfig.temperature',
    ],
    ['10,000 broken contents', generateContent, having(generateContent, `"contents":[${broken}]`), I, 'contents[0]'],
    ['no contents', generateContent, '{"generationConfig":{}}', I, 'contents'],
    [
      '__proto__ in a part',
      generateContent,
      having(generateContent, '"contents":[{"parts":[{"text":"a","__proto__":1}]}]'),
      I,
      'contents[0].parts[0].__proto__',
    ],
    [
      'a field in two spellings',
      generateContent,
      having(generateContent, '"generation_config":{}'),
      I,
      'generation_config',
    ],
    ['an image that is none', generateContent, inline('AAAA'), F, 'contents[0].parts[0].inlineData.data'],
    [
      'an image of 16 million letters that is none',
      generateContent,
      inline('a'.repeat(16_000_000)),
      F,
      'contents[0].parts[0].inlineData.data',
    ],
    ['1e400', embeddings, having(embeddings, '"dimensions":1e400'), I, 'dimensions'],
    ['no input', embeddings, '{"model":"text-embedding-3-small"}', I, 'input'],
    [
      '2,049 inputs',
      embeddings,
      having(embeddings, `"input":[${Array.from({ length: 2_049 }, () => '"a"').join()}]`),
      I,
      'input',
    ],
    ['a token below zero', embeddings, having(embeddings, '"input":[1,-1]'), I, 'input'],
    [
      'a million broken inputs',
      embeddings,
      having(embeddings, `"input":["a",${Array.from({ length: 1_000_000 }, () => '{}').join()}]`),
      I,
      'input',
    ],
    ['a user of 257 characters', embeddings, having(embeddings, `"user":"${long}"`), I, 'user'],
    ['no prompt', videos, '{"model":"seedance-1-5-pro"}', I, 'prompt'],
    ['a prompt as a list', videos, having(videos, '"prompt":["a"]'), I, 'prompt'],
    ['half a character', videos, having(videos, '"prompt":"\\ud800"'), I, 'prompt'],
    ['a prompt of 16 million letters', videos, having(videos, `"prompt":"${'a'.repeat(16_000_000)}"`), I, 'prompt'],
    ['seconds as a number', videos, having(videos, '"seconds":4'), I, 'seconds'],
    ['seconds nobody sells', videos, having(videos, '"seconds":"1e1"'), I, 'seconds'],
    ['a size nobody sells', videos, having(videos, '"size":"1280x0720"'), 'invalid_size', 'size'],
    ['an address of the own house', videos, having(videos, '"webhook_url":"http://127.0.0.1/"'), I, 'webhook_url'],
    ['an address that is none', videos, having(videos, '"webhook_url":"javascript:alert(1)"'), I, 'webhook_url'],
    ['a reference in JSON', videos, having(videos, `"input_reference":"${png}"`), I, 'input_reference'],
    ['no input', moderations, '{"model":"omni-moderation-latest"}', I, 'input'],
    ['10,000 broken inputs', moderations, having(moderations, `"input":[${many(() => '{}')}]`), I, 'input'],
    [
      'an image',
      moderations,
      having(moderations, `"input":[{"type":"image_url","image_url":{"url":"${png}"}}]`),
      I,
      'input[0].image_url.url',
    ],
  ];
