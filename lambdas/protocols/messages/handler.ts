import { requireMessagesVersion } from '../messages-version.ts';
import type { TextFace } from '../text-face.ts';
import { BETA_HEADER } from './betas.ts';
import { toTextOrder } from './request.ts';
import { foreign, messagesStream, PING } from './stream.ts';

/** POST /v1/messages. The only vendor behind it speaks the same protocol. */
export const messages: TextFace = {
  protocol: 'messages',
  toOrder: ({ body, event }, alternatives) => {
    requireMessagesVersion(event.headers);
    return toTextOrder({ json: body.json, betas: event.headers[BETA_HEADER] }, body.bytes, alternatives);
  },
  toBody: ({ content }) => {
    if (content.kind !== 'native') throw foreign();
    return content.text;
  },
  toStream: messagesStream,
  keepAlive: PING,
};
