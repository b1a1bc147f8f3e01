import * as z from 'zod';
import { listOf, recordOf } from '../bounded.ts';
import { guardedNames } from '../fields.ts';
import { generationConfig, safetySetting, tool, toolConfig } from './config.ts';
import { content, systemInstruction } from './parts.ts';
import { enumName, message } from './proto-json.ts';

const contents = listOf(content, { min: 1, max: 10_000, message: 'must be an array with at least one content' });

/** https://ai.google.dev/api/generate-content#request-body */
export const generateContentBody = message(
  {
    /** Some SDKs repeat here what stands in the path: https://github.com/google-gemini/deprecated-generative-ai-swift/pull/175 */
    model: z.string().optional(),
    contents,
    systemInstruction: systemInstruction.optional(),
    tools: listOf(tool, { max: 1_000, message: 'must be an array of tools' }).optional(),
    toolConfig: toolConfig.optional(),
    safetySettings: listOf(safetySetting, { max: 100, message: 'must be an array of settings' }).optional(),
    generationConfig: generationConfig.optional(),
    /** The vendor's SDKs send it by themselves: https://ai.google.dev/gemini-api/docs/generate-content/long-decode */
    continuationToken: z.string().optional(),
    labels: recordOf(z.string(), 64).optional(),
    serviceTier: enumName('standard', 'unspecified').optional(),
  },
  {
    guarded: guardedNames,
    refused: {
      cachedContent: 'caches at the provider are not supported. Send the content in contents.',
      maxOutputTokens: 'this endpoint has no such field. Use generationConfig.maxOutputTokens.',
      store: 'must be false. The gateway stores no requests.',
    },
  },
);

const inRequest = 'not counted beside contents. Send the whole request as generateContentRequest.';

/** https://ai.google.dev/api/tokens#request-body */
export const countContentBody = message(
  {
    model: z.string().optional(),
    contents: contents.optional(),
    generateContentRequest: generateContentBody.optional(),
  },
  {
    guarded: guardedNames,
    refused: {
      cachedContent: inRequest,
      generationConfig: inRequest,
      systemInstruction: inRequest,
      toolConfig: inRequest,
      tools: inRequest,
    },
  },
);

export type GenerateContentBody = z.output<typeof generateContentBody>;
export type CountContentBody = z.output<typeof countContentBody>;
