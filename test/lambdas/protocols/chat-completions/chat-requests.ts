import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../../lambdas/core/json.ts';
import type { TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import { toTextParams } from '../../../../lambdas/protocols/chat-completions/request.ts';
import { capabilities } from '../../core/catalog/sample-data.ts';
import { textModel } from '../../core/text/text-models.ts';

type Changes = Readonly<Record<string, unknown>>;

/** Model with every capability. */
export const able = (changes: Changes = {}): Changes =>
  capabilities({
    seed: true,
    multipleChoices: true,
    sampling: true,
    penalties: true,
    stop: true,
    logprobs: true,
    ...changes,
  });

export const effortField = (field: string) => ({ field, accepted: ['low'], default: 'low', levelsUi: ['low'] });

export const versatile = (changes: Changes = {}) => textModel({ capabilities: able(), ...changes });

export const hello = { role: 'user', content: 'Hello' };

/** Body after serialization as JSON, so without undefined members. */
export const bodyOf = (changes: Changes): JsonObject => {
  const body = parseJson(JSON.stringify({ model: 'alpha-1', messages: [hello], ...changes }));
  if (!isJsonObject(body)) throw new Error('no object');
  return body;
};

export const prepared = (changes: Changes, model: Changes = {}): TextRequest => {
  const body = bodyOf(changes);
  return toTextParams(body, Buffer.byteLength(JSON.stringify(body)), () => '').validateFor(versatile(model));
};

/** Returns the error of the rejection. Fails without one, or if its message does not name the param (GEN-4). */
export const refusalOf = (changes: Changes, model: Changes = {}): GatewayError => {
  try {
    prepared(changes, model);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`not rejected: ${JSON.stringify(changes)}`);
};

const image = (bytes: string, type: string): string =>
  `data:${type};base64,${Buffer.from(bytes, 'latin1').toString('base64')}`;

export const png = image('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'image/png');
export const jpeg = image('\xff\xd8\xff\xe0\0\x10JFIF\0', 'image/jpeg');
export const webp = image('RIFF\x24\0\0\0WEBPVP8 ', 'image/webp');
export const gif = image('GIF89a\x01\0\x01\0', 'image/gif');

export const showing = (url: unknown) => [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'what?' },
      { type: 'image_url', image_url: { url } },
    ],
  },
];

export const tool = (changes: Changes = {}) => ({
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object' }, ...changes },
});
