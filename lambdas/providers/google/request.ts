import { isJsonObject, type JsonObject } from '../../core/json.ts';

/** Below the provider's base URL. Streams are always asked for as events: without `alt` they would come as one growing list. */
export const generatePath = (model: string, streamed: boolean): string =>
  `/v1beta/models/${model}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;

/** BILL-6: the client's body but for the cap. The model stands in the path. */
export const toNativeBody = (body: JsonObject, outputTokensMax: number): JsonObject => ({
  ...body,
  generationConfig: {
    ...(isJsonObject(body.generationConfig) ? body.generationConfig : {}),
    maxOutputTokens: outputTokensMax,
  },
});

/** What a model that draws is asked for: some give no image alone. https://ai.google.dev/gemini-api/docs/image-generation */
export const drawnModalities: readonly string[] = ['TEXT', 'IMAGE'];
