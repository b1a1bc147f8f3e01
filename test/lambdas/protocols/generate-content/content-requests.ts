import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../../lambdas/core/json.ts';
import type { TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import { toTextParams } from '../../../../lambdas/protocols/generate-content/request.ts';

export const MODEL = 'gemini-4-argon';

export const shippedCatalog = loadCatalog(catalogData);

export const shipped = (id = MODEL): TextModel => {
  const model = shippedCatalog.entries.find((entry) => entry.id === id);
  if (model?.kind !== 'text') throw new Error(`no text model ${id}`);
  return model;
};

type Capabilities = Partial<TextModel['capabilities']>;

export const withCapabilities = (changes: Capabilities): TextModel => {
  const model = shipped();
  return { ...model, capabilities: { ...model.capabilities, ...changes } };
};

/** Model with every capability. */
export const able = withCapabilities({ multipleChoices: true, penalties: true, logprobs: true });

export const hello = { role: 'user', parts: [{ text: 'Hello' }] };

export const saying = (...parts: readonly object[]) => ({ contents: [{ role: 'user', parts }] });

export const configured = (generationConfig: object) => ({ generationConfig });

/** Body after serialization as JSON, so without undefined members. */
export const bodyOf = (changes: object): JsonObject => {
  const body = parseJson(JSON.stringify({ contents: [hello], ...changes }));
  if (!isJsonObject(body)) throw new Error('no object');
  return body;
};

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Value with every name in the spelling of the .proto file. */
export const inSnake = (value: JsonValue | undefined): JsonValue => {
  if (Array.isArray(value)) return value.map(inSnake);
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snake(name), inSnake(member)]));
};

export const snakeBodyOf = (changes: object): JsonObject => {
  const body = inSnake(bodyOf(changes));
  if (!isJsonObject(body)) throw new Error('no object');
  return body;
};

export const preparedBody = (
  body: JsonObject,
  model = able,
  stream = false,
  bodyBytes = Buffer.byteLength(JSON.stringify(body)),
): TextRequest => toTextParams({ modelId: MODEL, stream, json: body, bodyBytes }, () => ' Others.').validateFor(model);

export const prepared = (changes: object, model?: TextModel, stream?: boolean): TextRequest =>
  preparedBody(bodyOf(changes), model, stream);

export const refusedBy = (act: () => unknown): GatewayError => {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('not rejected');
};

export const refusalOf = (changes: object, model?: TextModel, stream?: boolean): GatewayError =>
  refusedBy(() => prepared(changes, model, stream));

const base64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');

export const png = base64('\x89PNG\r\n\x1a\n\0\0\0\rIHDR');
export const jpeg = base64('\xff\xd8\xff\xe0\0\x10JFIF\0');
export const webp = base64('RIFF\x24\0\0\0WEBPVP8 ');
export const heic = base64('\0\0\0\x18ftypheic\0\0\0\0');
export const gif = base64('GIF89a\x01\0\x01\0');

export const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
export const linked = (fileUri: string, more: object = {}) => ({ fileData: { fileUri, ...more } });
