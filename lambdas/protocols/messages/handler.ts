import { requireMessagesVersion } from '../messages-version.ts';
import type { TextFace } from '../text-face.ts';
import { toTextOrder } from './request.ts';
import { foreign, messagesStream, PING } from './stream.ts';

/** POST /v1/messages. The only vendor behind it speaks the same protocol. */
export const messages: TextFace = {
  protocol: 'messages',
  toOrder: ({ body, event }, alternatives) => {
    requireMessagesVersion(event.headers);
    return toTextOrder(body.json, body.bytes, alternatives);
  },
  toBody: ({ content }) => {
    if (content.kind !== 'native') throw foreign();
    return content.text;
  },
  toStream: messagesStream,
  keepAlive: PING,
};
