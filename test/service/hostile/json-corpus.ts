import {
  chat,
  embeddings,
  generateContent,
  having,
  messages,
  moderations,
  type PostRoute,
  responses,
  videos,
} from '../../support/hostile-routes.ts';
import { nested } from './hostile-json.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const around = (hex: string): Buffer => Buffer.concat([Buffer.from('{"a":"'), bytes(hex), Buffer.from('"}')]);
const many = (entry: (index: number) => string): string =>
  Array.from({ length: 10_000 }, (_, index) => entry(index)).join();

/** Bodies that are not one JSON object in UTF-8 of at most 64 levels (GEN-2). */
export const malformed: readonly (readonly [what: string, body: Uint8Array | string])[] = [
  ['nothing', ''],
  ['white space', ' \r\n\t '],
  ['a word', 'hello'],
  ['a form', 'model=gpt-4.1-mini&messages=hi'],
  ['XML', '<?xml version="1.0"?><a/>'],
  ['a cut string', '{"model":"gpt'],
  ['a cut object', '{"a":1'],
  ['two objects', '{}{}'],
  ['a zero byte after the object', '{}\0'],
  ['a trailing comma', '{"a":1,}'],
  ['single quotes', "{'a':1}"],
  ['a name without quotes', '{a:1}'],
  ['a comment', '{"a":1/* */}'],
  ['NaN', '{"a":NaN}'],
  ['Infinity', '{"a":-Infinity}'],
  ['a leading zero', '{"a":01}'],
  ['a hexadecimal number', '{"a":0x10}'],
  ['a line break in a string', '{"a":"\n"}'],
  ['an unknown escape', '{"a":"\\x41"}'],
  ['a no-break space', '{"a":\u00a01}'],
  ['two byte order marks', '\ufeff\ufeff{}'],
  ['an open array a million deep', '['.repeat(1_000_000)],
  ['an open object a million deep', '{"a":'.repeat(1_000_000)],
  ['null', 'null'],
  ['a number', '1'],
  ['a string', '"{}"'],
  ['an array', '[{}]'],
  ['UTF-16, little-endian', Buffer.from('\ufeff{}', 'utf16le')],
  ['UTF-16, big-endian', Buffer.from('\ufeff{}', 'utf16le').swap16()],
  ['UTF-32', bytes('fffe00007b0000007d000000')],
  ['a lone continuation byte', around('80')],
  ['a cut sequence of two', around('c3')],
  ['a cut sequence of four', around('f09f98')],
  ['an overlong slash', around('c0af')],
  ['an overlong zero byte', around('c080')],
  ['half a surrogate pair in UTF-8', around('eda080')],
  ['a code point beyond the last', around('f4908080')],
  ['a sequence of six', around('fc8480808080')],
  ['FE and FF', around('feff')],
  ['Latin-1', Buffer.from('{"a":"\xe9t\xe9"}', 'latin1')],
  ['zero bytes', Buffer.alloc(1_024)],
  ['65 levels of arrays', `{"a":${nested(64)}}`],
  ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['100,000 levels', `{"a":${nested(100_000)}}`],
];

/** Members with names or numbers that no protocol has, and the field that the error names. */
export const strange: readonly (readonly [what: string, members: string, param: string])[] = [
  ['1e400', '"a":1e400', 'a'],
  ['-1e400 further in', '"a":{"b":[0,-1e400]}', 'a.b[1]'],
  ['__proto__', '"__proto__":{"polluted":1}', '__proto__'],
  ['__proto__ further in', '"a":[{"__proto__":null}]', 'a[0].__proto__'],
  ['constructor', '"constructor":{"prototype":{"polluted":1}}', 'constructor'],
  ['toString', '"toString":1', 'toString'],
  ['an empty name', '"":1', ''],
  ['a name with a zero byte', '"\\u0000":1', '\u0000'],
  ['10,000 unknown names', many((index) => `"k${index}":1`), 'k0'],
  ['a name of a million characters', `"${'n'.repeat(1_000_000)}":1`, `${'n'.repeat(100)}…`],
];

const I = 'invalid_request_error';
const M = 'invalid_messages';
const F = 'invalid_image_format';
const png = 'data:image/png;base64,AAAA';
const broken = many(() => '0');
const huge = 'a'.repeat(4_000_000);

const user = (route: PostRoute, content: string): string =>
  having(route, `"${route === responses ? 'input' : 'messages'}":[{"role":"user","content":${content}}]`);
const chatImage = (url: string): string => user(chat, `[{"type":"image_url","image_url":{"url":"${url}"}}]`);
const inputImage = (url: string): string => user(responses, `[{"type":"input_image","image_url":"${url}"}]`);
const claudeImage = (data: string): string =>
  user(messages, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}]`);
const part = (text: string): string => having(generateContent, `"contents":[{"parts":[${text}]}]`);
const inline = (data: string): string => part(`{"inlineData":{"mimeType":"image/png","data":"${data}"}}`);
const tool = (members: string): string => having(chat, `"tools":[{"type":"function","function":{${members}}}]`);

const CHAT_IMAGE = 'messages[0].content[0].image_url.url';
const INPUT_IMAGE = 'input[0].content[0].image_url';
const CLAUDE_IMAGE = 'messages[0].content[0].source.data';
const INLINE = 'contents[0].parts[0].inlineData.data';

/** Bodies with an invalid field of their protocol, and the error that names it. */
export const wrong: readonly (readonly [what: string, route: PostRoute, body: string, code: string, param: string])[] =
  [
    ['1e400', chat, having(chat, '"temperature":1e400'), I, 'temperature'],
    ['1e400 in a list', chat, having(chat, '"stop":[1e400]'), I, 'stop[0]'],
    ['1e400 in a schema', chat, tool('"name":"f","parameters":{"a":1e400}'), I, 'tools[0].function.parameters.a'],
    ['an inexact whole number', chat, having(chat, '"seed":9007199254740993'), I, 'seed'],
    ['__proto__ in a part', chat, user(chat, '[{"type":"text","__proto__":1}]'), I, 'messages[0].content[0].__proto__'],
    ['__proto__ in a tool', chat, tool('"name":"f","__proto__":1'), I, 'tools[0].function.__proto__'],
    ['10,000 broken messages', chat, having(chat, `"messages":[${broken}]`), M, 'messages[0]'],
    ['the same name twice, the second wrong', chat, having(chat, '"messages":0'), M, 'messages'],
    ['no messages', chat, '{"model":"gpt-5.4"}', M, 'messages'],
    ['messages as an object', chat, having(chat, '"messages":{"0":{},"length":1}'), M, 'messages'],
    ['no model', chat, '{"messages":[{"role":"user","content":"hi"}]}', I, 'model'],
    ['a number as content', chat, user(chat, '1'), M, 'messages[0].content'],
    ['a line break in a tool name', chat, tool('"name":"a\\r\\nb"'), I, 'tools[0].function.name'],
    ['text as a boolean', chat, having(chat, '"stream":"true"'), I, 'stream'],
    ['an image without its bytes', chat, chatImage(png), F, CHAT_IMAGE],
    ['an image in a file', chat, chatImage('file:///etc/passwd'), F, CHAT_IMAGE],
    ['a data URI without an end', chat, chatImage(`data:image/png;${huge}`), F, CHAT_IMAGE],
    ['a data URI of semicolons', chat, chatImage(`data:image/png${';a'.repeat(2_000_000)}`), F, CHAT_IMAGE],
    ['10,000 broken items', responses, having(responses, `"input":[${broken}]`), I, 'input[0]'],
    ['a number as input', responses, having(responses, '"input":1'), I, 'input'],
    ['an image without its bytes', responses, inputImage(png), F, INPUT_IMAGE],
    ['an image in a file', responses, inputImage('file:///etc/passwd'), F, INPUT_IMAGE],
    ['a data URI without an end', responses, inputImage(`data:image/png;${huge}`), F, INPUT_IMAGE],
    ['10,000 broken messages', messages, having(messages, `"messages":[${broken}]`), M, 'messages[0]'],
    ['no messages', messages, '{"model":"claude-haiku-4-5","max_tokens":1}', M, 'messages'],
    ['no cap', messages, '{"model":"claude-haiku-4-5","messages":[{"role":"user","content":"hi"}]}', I, 'max_tokens'],
    ['an image without its bytes', messages, claudeImage('AAAA'), F, CLAUDE_IMAGE],
    ['4 million characters as an image', messages, claudeImage(huge), F, CLAUDE_IMAGE],
    ['10,000 broken contents', generateContent, having(generateContent, `"contents":[${broken}]`), I, 'contents[0]'],
    ['no contents', generateContent, '{"generationConfig":{}}', I, 'contents'],
    ['__proto__ in a part', generateContent, part('{"text":"a","__proto__":1}'), I, 'contents[0].parts[0].__proto__'],
    ['two spellings', generateContent, having(generateContent, '"generation_config":{}'), I, 'generation_config'],
    ['an image without its bytes', generateContent, inline('AAAA'), F, INLINE],
    ['4 million characters as an image', generateContent, inline(huge), F, INLINE],
    ['no input', embeddings, '{"model":"text-embedding-3-small"}', I, 'input'],
    ['2,049 inputs', embeddings, having(embeddings, `"input":["a"${',"a"'.repeat(2_048)}]`), I, 'input'],
    ['a token below zero', embeddings, having(embeddings, '"input":[1,-1]'), I, 'input'],
    ['50,000 broken inputs', embeddings, having(embeddings, `"input":["a"${',{}'.repeat(50_000)}]`), I, 'input'],
    ['no prompt', videos, '{"model":"seedance-1-5-pro"}', I, 'prompt'],
    ['half a character', videos, having(videos, '"prompt":"\\ud800"'), I, 'prompt'],
    ['a prompt of 4 million characters', videos, having(videos, `"prompt":"${huge}"`), I, 'prompt'],
    ['seconds as a number', videos, having(videos, '"seconds":4'), I, 'seconds'],
    ['an unsupported size', videos, having(videos, '"size":"1280x0720"'), 'invalid_size', 'size'],
    ['a private webhook', videos, having(videos, '"webhook_url":"http://127.0.0.1/"'), I, 'webhook_url'],
    ['a webhook that is not HTTP', videos, having(videos, '"webhook_url":"javascript:alert(1)"'), I, 'webhook_url'],
    ['10,000 broken inputs', moderations, having(moderations, `"input":[${many(() => '{}')}]`), I, 'input'],
  ];

/** Valid bodies of a route in an unusual notation that a JSON reader must accept. */
export const unusual: Readonly<Record<string, (text: string) => string>> = {
  'one byte order mark': (text) => `\ufeff${text}`,
  'white space around it': (text) => ` \r\n\t${text}\n`,
  'a name twice, the second good': (text) => text.replace(/"(input|messages|contents|prompt)":/, '"$1":0,"$1":'),
  'escapes in a name': (text) =>
    text.replace(
      /"(input|messages|contents|prompt)"/,
      (name) => `"\\u00${name.charCodeAt(1).toString(16)}${name.slice(2)}`,
    ),
  'control characters': (text) => text.replace('"hi"', '"\\u0000\\u001b[2J\\r\\nx-injected: 1"'),
  'a lone surrogate': (text) => text.replace('"hi"', '"\\ud800"'),
};

const declaration = (schema: string): string =>
  having(generateContent, `"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${schema}}]}]`);

/** Bodies with a tool schema, and the nesting level of the schema. */
export const schemas: readonly (readonly [PostRoute, level: number, body: (schema: string) => string])[] = [
  [chat, 4, (schema) => tool(`"name":"f","parameters":${schema}`)],
  [responses, 3, (schema) => having(responses, `"tools":[{"type":"function","name":"f","parameters":${schema}}]`)],
  [messages, 3, (schema) => having(messages, `"tools":[{"name":"f","input_schema":${schema}}]`)],
  [generateContent, 5, declaration],
];
