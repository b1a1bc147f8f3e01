import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { type Span, topLevelString } from '../top-level-member.ts';

/** JSON response, unchanged except for the model's id, which is replaced only if it differs. */
export const withModel = (text: string, body: JsonObject, modelId: string): string => {
  if (body.model === modelId) return text;
  const span = topLevelString(text, 'model');
  return span ? replaced(text, span, modelId) : JSON.stringify({ ...body, model: modelId });
};

/** Matches only if no nested object or list precedes the response. */
const head = /^\{[^[{]*"response"\s*:\s*(?=\{)/;

/** Replaces the model of the `response` in an event's data. */
export const withResponseModel = (data: string, body: JsonObject, modelId: string): string => {
  const { response } = body;
  if (!isJsonObject(response) || typeof response.model !== 'string' || response.model === modelId) return data;
  const from = head.exec(data)?.[0].length;
  const span = from === undefined ? undefined : topLevelString(data.slice(from), 'model');
  return from !== undefined && span
    ? replaced(data, { start: from + span.start, end: from + span.end }, modelId)
    : JSON.stringify({ ...body, response: { ...response, model: modelId } });
};

const replaced = (text: string, { start, end }: Span, modelId: string): string =>
  `${text.slice(0, start)}${JSON.stringify(modelId)}${text.slice(end)}`;
