import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../../lambdas/core/json.ts';
import type { TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import { toTextParams } from '../../../../lambdas/protocols/responses/request.ts';

const catalog = loadCatalog(catalogData);

export const shipped = (id: string): TextModel => {
  const model = catalog.entries.find((entry) => entry.id === id);
  if (model?.kind !== 'text') throw new Error(`no text model ${id}`);
  return model;
};

/** Body after serialization as JSON, so without undefined members. */
export const bodyOf = (changes: object): JsonObject => {
  const body = parseJson(JSON.stringify({ model: 'gpt-5.5-pro', input: 'Hello', ...changes }));
  if (!isJsonObject(body)) throw new Error('no object');
  return body;
};

export const prepared = (
  changes: object,
  model = shipped('gpt-5.5-pro'),
  bodyBytes = Buffer.byteLength(JSON.stringify(bodyOf(changes))),
): TextRequest => toTextParams(bodyOf(changes), bodyBytes, () => ' Others.').validateFor(model);

export const refusalOf = (changes: object, model?: TextModel): GatewayError => {
  try {
    prepared(changes, model);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`not rejected: ${JSON.stringify(changes)}`);
};
