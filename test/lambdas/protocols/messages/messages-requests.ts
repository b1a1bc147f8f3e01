import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../../lambdas/core/json.ts';
import type { TextParams, TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import { alternativesIn } from '../../../../lambdas/protocols/alternatives.ts';
import { toTextParams } from '../../../../lambdas/protocols/messages/request.ts';

type Changes = Readonly<Record<string, unknown>>;

export const NOW = Date.UTC(2026, 10, 20);
export const catalog = loadCatalog(catalogData);
export const alternatives = alternativesIn(catalog, 'messages', NOW);

/** Model that accepts every field of the format, including sampling, forced tools and a budget. */
export const EVERYTHING = 'claude-haiku-4-5';

/** Model by its id or its alias. */
export const entryOf = (name: string): TextModel => {
  const model = catalog.find(name, NOW);
  if (model?.kind !== 'text') throw new Error(`no text model ${name}`);
  return model;
};

export const hello = { role: 'user', content: 'Hello' };

/** Value after serialization as JSON, so without undefined members. */
export const jsonOf = (value: unknown): JsonObject => {
  const json = parseJson(JSON.stringify(value));
  if (!isJsonObject(json)) throw new Error('no object');
  return json;
};

export const bodyOf = (changes: Changes): JsonObject =>
  jsonOf({ model: EVERYTHING, max_tokens: 100, messages: [hello], ...changes });

/** Params of this body, and of the beta header if there is one. */
export const ordered = (
  json: JsonObject,
  betas?: string,
  bytes = Buffer.byteLength(JSON.stringify(json)),
): TextParams => toTextParams({ json, betas }, bytes, alternatives);

export const prepared = (changes: Changes, model?: TextModel, betas?: string): TextRequest => {
  const order = ordered(bodyOf(changes), betas);
  return order.validateFor(model ?? entryOf(order.modelId));
};

/** Returns the error that `action` throws. Fails without one, or if its message does not name the param (GEN-4). */
export const refusalIn = (action: () => unknown): GatewayError => {
  try {
    action();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.param && !error.message.includes(error.param)) throw new Error(`unnamed: ${error.message}`);
    return error;
  }
  throw new Error('not rejected');
};

export const refusalOf = (changes: Changes, model?: TextModel): GatewayError =>
  refusalIn(() => prepared(changes, model));

/** Body with one message of these blocks. */
export const saying = (...content: readonly unknown[]) => ({ messages: [{ role: 'user', content }] });

export const tool = (changes: Changes = {}) => ({
  name: 'get_weather',
  input_schema: { type: 'object' },
  ...changes,
});

const inBase64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');

export const pictures = {
  'image/png': inBase64('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'),
  'image/jpeg': inBase64('\xff\xd8\xff\xe0\0\x10JFIF\0'),
  'image/webp': inBase64('RIFF\x24\0\0\0WEBPVP8 '),
  'image/gif': inBase64('GIF89a\x01\0\x01\0'),
} as const;

export const image = (source: Changes, changes: Changes = {}) => ({ type: 'image', source, ...changes });

export const inline = (type: keyof typeof pictures, claimed: string = type) =>
  image({ type: 'base64', media_type: claimed, data: pictures[type] });

export const text = (changes: Changes = {}) => ({ type: 'text', text: 'Hello', ...changes });

export const result = (changes: Changes = {}) => ({ type: 'tool_result', tool_use_id: 'toolu_1', ...changes });
