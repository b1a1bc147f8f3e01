import { isJsonObject, parseJson } from '../../core/json.ts';
import type { WireAnswer } from '../../core/text/text-wire.ts';
import type { StreamContext, StreamFace, TextFace } from '../text-face.ts';
import { messageFirst } from './item-order.ts';
import { toTextOrder } from './request.ts';

/** POST /v1/responses. The only vendor behind it speaks the same protocol. */
export const responses: TextFace = {
  protocol: 'responses',
  headers: { takesKeys: true, takesFallback: true },
  toOrder: ({ body }, alternatives) => toTextOrder(body.json, body.bytes, alternatives),
  toBody: ({ content }) => toBody(content),
  toStream: (context) => toStream(context),
};

const foreign = (): Error => new Error('an answer of another protocol on /v1/responses');

/** RESP-5. An answer whose message is first already passes as it came. */
const toBody = (content: WireAnswer['content']): string => {
  if (content.kind !== 'native') throw foreign();
  const { output } = content.body;
  if (!Array.isArray(output)) return content.text;
  const ordered = messageFirst(output);
  if (ordered === output) return content.text;
  const sent = parseJson(content.text);
  return JSON.stringify({ ...(isJsonObject(sent) ? sent : {}), output: ordered });
};

/** Events pass with the vendor's names and in its order (RESP-1). https://platform.openai.com/docs/api-reference/responses-streaming */
const toStream = ({ write }: StreamContext): StreamFace => {
  let sequence = 0;
  return {
    native: (events) => {
      sequence += events.length;
      write(events.join(''));
    },
    neutral: () => {
      throw foreign();
    },
    finish: (ending) => {
      if (ending.kind !== 'native') throw foreign();
      write(ending.events.join(''));
    },
    fail: ({ code, message, param }) => {
      const data = { type: 'error', code, message, param, sequence_number: sequence };
      write(`event: error\ndata: ${JSON.stringify(data)}\n\n`);
    },
  };
};
