import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { unlimitedMemory } from '../../../../lambdas/core/limits/request-memory.ts';
import type { ImagePart } from '../../../../lambdas/core/text/conversation.ts';
import type { ImageFetch } from '../../../../lambdas/providers/image-fetch.ts';
import { dispatch, messagesCall, type Played, sentFor, turns, wireTo } from './messages-call.ts';

const param = 'messages[0].content[1].image_url.url';
const part = (url: string, detail: ImagePart['detail'] = 'auto'): ImagePart => ({ kind: 'image', url, detail, param });
const conversation = (...images: ImagePart[]) =>
  turns({ role: 'user', content: [{ kind: 'text', text: 'See' }, ...images], param: 'messages[0]' });

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
const jpeg = Buffer.from('ffd8ffe000104a46494600010101', 'hex').toString('base64');
const webp = Buffer.from('524946462400000057454250565038', 'hex').toString('base64');

test.for([
  ['image/png', `data:image/png;base64,${png}`, png],
  ['image/jpeg', `data:image/png;base64,${jpeg}`, jpeg],
  ['image/webp', `DATA:image/webp;charset=x;base64,${webp}`, webp],
] as const)(
  'CHAT-6 bytes of %s are sent with that type, even if the client declares %s',
  async ([mediaType, url, data]) => {
    const body = await sentFor(conversation(part(url)));
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'base64', media_type: mediaType, data } },
        ],
      },
    ]);
  },
);

test('CHAT-6 an https URL is sent unchanged for the provider to open', async () => {
  const body = await sentFor(conversation(part('https://images.example/a.png', 'high')));
  expect(body.messages).toMatchObject([
    { content: [{}, { type: 'image', source: { type: 'url', url: 'https://images.example/a.png' } }] },
  ]);
});

const answered = { body: '{"type":"message","content":[],"stop_reason":"end_turn"}' };

const sentAfterGather = async (fetchImage: ImageFetch, ...images: ImagePart[]) => {
  const played: Played = { ...answered, fetchImage };
  const { wire, seen } = wireTo(played);
  const prepared = wire.buildCall(messagesCall(conversation(...images)));
  await prepared.gather?.({ byUrl: new Map(), memory: unlimitedMemory });
  expect(seen.requests).toEqual([]);
  await prepared.send(dispatch());
  return JSON.parse(seen.requests[0]?.body ?? '').messages[0].content.slice(1);
};

test('CHAT-6 a URL that the provider does not open is fetched once and sent as bytes', async () => {
  const fetched: unknown[] = [];
  const fetchImage: ImageFetch = async (url, { param: place }) => {
    fetched.push([url, place]);
    return { mediaType: 'image/webp', bytes: Buffer.from(url) };
  };
  const [first, second, third] = ['http://a.example/1', 'HTTP://b.example/2', 'https://c.example/3'] as const;
  const content = await sentAfterGather(fetchImage, part(first), part(third), part(second), part(first));
  const bytesOf = (url: string) => ({
    type: 'base64',
    media_type: 'image/webp',
    data: Buffer.from(url).toString('base64'),
  });
  const sources = [bytesOf(first), { type: 'url', url: third }, bytesOf(second), bytesOf(first)];
  expect(content).toEqual(sources.map((source) => ({ type: 'image', source })));
  expect(fetched).toEqual([
    [first, param],
    [second, param],
  ]);
});

test('CHAT-6 an image that cannot be fetched is reported before anything is sent', async () => {
  const fetchImage: ImageFetch = async () => {
    throw new GatewayError('invalid_image_format', `${param}: no`, { param });
  };
  const { wire, seen } = wireTo({ fetchImage });
  const prepared = wire.buildCall(messagesCall(conversation(part('http://a.example/1'))));
  await expect(prepared.gather?.({ byUrl: new Map(), memory: unlimitedMemory })).rejects.toMatchObject({
    code: 'invalid_image_format',
    param,
  });
  expect(seen.requests).toEqual([]);
});

test.for(['data:image/png;base64,R0lGODlhAQAB', 'data:image/png', ''])('CHAT-6 %j is not an image', (url) => {
  expect(() => wireTo().wire.buildCall(messagesCall(conversation(part(url))))).toThrow(
    expect.objectContaining({ code: 'invalid_image_format', param }),
  );
});

test('CHAT-5 a tool result has its images as blocks, fetched if the provider does not open the URL', async () => {
  const turn = { role: 'user', content: [{ kind: 'text', text: 'Look' }], param: 'messages[0]' } as const;
  const call = { id: 'c1', name: 'look', arguments: '{}' };
  const asked = { role: 'assistant', text: '', toolCalls: [call], param: 'messages[1]' } as const;
  const content = [
    { kind: 'text', text: 'shot' } as const,
    part(`data:image/png;base64,${png}`),
    part('http://a.test/1'),
  ];
  const result = { role: 'tool', callId: 'c1', text: 'shot', content, param: 'messages[2]' } as const;
  const fetchImage: ImageFetch = async () => ({ mediaType: 'image/webp', bytes: Buffer.from('x') });
  const { wire, seen } = wireTo({ ...answered, fetchImage });
  const prepared = wire.buildCall(messagesCall(turns(turn, asked, result)));
  await prepared.gather?.({ byUrl: new Map(), memory: unlimitedMemory });
  await prepared.send(dispatch());
  const data = Buffer.from('x').toString('base64');
  expect(JSON.parse(seen.requests[0]?.body ?? '').messages[2].content).toEqual([
    {
      type: 'tool_result',
      tool_use_id: 'c1',
      content: [
        { type: 'text', text: 'shot' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        { type: 'image', source: { type: 'base64', media_type: 'image/webp', data } },
      ],
    },
  ]);
});
