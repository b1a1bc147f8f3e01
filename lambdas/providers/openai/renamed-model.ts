import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { type Span, topLevelString } from '../top-level-member.ts';

/** JSON response, unchanged except for the model's id, which is replaced only if it differs. */
export const withModel = (text: string, body: JsonObject, modelId: string): string => {
  if (body.model === modelId) return text;
  const span = modelBehindLists(text) ?? topLevelString(text, 'model');
  return span ? replaced(text, span, modelId) : JSON.stringify({ ...body, model: modelId });
};

/**
 * Position of the model after the last list. In an embedding response the model follows megabytes of numbers, and a
 * search from the start takes a quarter of a second per 25 MB. The rest of the text must complete an object, which
 * proves that the model belongs to the outermost one.
 */
const modelBehindLists = (text: string): Span | undefined => {
  const from = text.lastIndexOf(']') + 1;
  const opening = '{"":0';
  const rest = `${opening}${text.slice(from)}`;
  const span = isJson(rest) ? topLevelString(rest, 'model') : undefined;
  const shift = from - opening.length;
  return span && { start: span.start + shift, end: span.end + shift };
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
