import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { buildRequest, type FormFields, toCurl } from '../../../../local/page/ui/build-request.ts';
import type { Mode } from '../../../../local/page/ui/modes.ts';

test.each<[Mode, FormFields, string, object]>([
  [
    'chat',
    { prompt: 'Hi', system: 'Be brief', stream: 'on', temperature: '0.5' },
    '/v1/chat/completions',
    {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
      stream: true,
      temperature: 0.5,
    },
  ],
  [
    'chat',
    { prompt: 'Hi', system: '', temperature: '' },
    '/v1/chat/completions',
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: false },
  ],
  [
    'responses',
    { prompt: 'Hi', system: 'Be brief', stream: 'on' },
    '/v1/responses',
    { model: 'm', input: 'Hi', instructions: 'Be brief', stream: true },
  ],
  ['images', { prompt: 'A boat', size: '' }, '/v1/images/generations', { model: 'm', prompt: 'A boat' }],
  ['images', { prompt: 'A boat', size: '1K' }, '/v1/images/generations', { model: 'm', prompt: 'A boat', size: '1K' }],
  ['speech', { prompt: 'Hi', voice: 'nova' }, '/v1/audio/speech', { model: 'm', input: 'Hi', voice: 'nova' }],
  [
    'video',
    { prompt: 'A boat', size: '1280x720', seconds: '8' },
    '/v1/videos',
    { model: 'm', prompt: 'A boat', size: '1280x720', seconds: '8' },
  ],
  [
    'video',
    { prompt: 'A boat', webhook_url: 'http://127.0.0.1/inbox' },
    '/v1/videos',
    { model: 'm', prompt: 'A boat', webhook_url: 'http://127.0.0.1/inbox' },
  ],
])('the form of the mode %s becomes the request %j', (mode, fields, path, body) => {
  const request = buildRequest(mode, 'm', fields);
  expect(request.path).toBe(path);
  expect(JSON.parse(JSON.stringify(request.body))).toEqual(body);
});

/** The arguments that curl gets from a shell. */
const argumentsOf = (command: string): readonly string[] =>
  JSON.parse(
    execFileSync(
      'sh',
      ['-c', command.replace('curl', `"$NODE" -e 'console.log(JSON.stringify(process.argv.slice(1)))' --`)],
      {
        encoding: 'utf8',
        env: { NODE: process.execPath },
      },
    ),
  );

test('a shell passes the copied command on with every character of the prompt', () => {
  const prompt = `It's "quoted", $HOME, \`id\` and \\ on
two lines`;
  const request = buildRequest('chat', 'm', { prompt, stream: 'on' });
  expect(argumentsOf(toCurl('http://127.0.0.1:8787', 'sk-service-1', request))).toEqual([
    '-N',
    'http://127.0.0.1:8787/v1/chat/completions',
    '-H',
    'authorization: Bearer sk-service-1',
    '-H',
    'content-type: application/json',
    '-d',
    JSON.stringify(request.body),
  ]);
});

test('the copied command of speech stores the sound in a file', () => {
  const command = toCurl('http://127.0.0.1', 'k', buildRequest('speech', 'm', { prompt: 'Hi', voice: 'nova' }));
  expect(argumentsOf(command).slice(-2)).toEqual(['-o', 'speech.mp3']);
});
