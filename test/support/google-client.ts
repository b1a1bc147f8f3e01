import { ApiError, type GenerateContentResponseUsageMetadata, GoogleGenAI } from '@google/genai';
import type * as z from 'zod';
import { errorShapes } from './error-shapes.ts';
import type { TestGateway } from './gateway.ts';
import type { Counts } from './gateway-chat.ts';

export const GEMINI = 'gemini-3.8-flash';

/** Returns the official client. Only the base URL and the API key differ from its defaults. */
export const googleFor = ({ url, apiKey }: Pick<TestGateway, 'url' | 'apiKey'>): GoogleGenAI =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });

export const asking = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] });

export interface GooglePost {
  readonly model?: string;
  readonly version?: 'v1' | 'v1beta';
  /** Query string without the question mark. */
  readonly query?: string;
  /** By default the API key in `x-goog-api-key`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export function postGoogle(
  { url, apiKey }: TestGateway,
  action: string,
  body: object,
  { model = GEMINI, version = 'v1beta', query = '', headers = { 'x-goog-api-key': apiKey }, signal }: GooglePost = {},
): Promise<Response> {
  return fetch(`${url}/${version}/models/${model}:${action}${query && `?${query}`}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

export type GoogleErrorBody = z.infer<typeof errorShapes.generate_content>;

/** Returns the error of a response. Throws if the body has another shape. */
export const readGoogleError = async (response: Response): Promise<GoogleErrorBody> =>
  errorShapes.generate_content.parse(await response.json());

/**
 * Returns the error body that the SDK's ApiError has as its message, in JSON. Throws if the promise does not reject
 * with an ApiError, or if the error's status differs from the code in the body.
 */
export async function apiErrorOf(pending: Promise<unknown>): Promise<GoogleErrorBody> {
  const thrown: unknown = await pending.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw new Error(`no ApiError but ${thrown}`);
  const error = errorShapes.generate_content.parse(JSON.parse(thrown.message));
  if (thrown.status !== error.http) throw new Error(`code ${error.http} in an answer with status ${thrown.status}`);
  return error;
}

type Usage = Pick<
  GenerateContentResponseUsageMetadata,
  'promptTokenCount' | 'candidatesTokenCount' | 'thoughtsTokenCount'
>;

/**
 * Converts Google's counts. The prompt count includes cached tokens. Thinking tokens are separate from the candidates'
 * and count as output.
 */
export const countsOf = (usage: Usage | undefined): Counts => ({
  prompt_tokens: usage?.promptTokenCount ?? 0,
  completion_tokens: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
});
