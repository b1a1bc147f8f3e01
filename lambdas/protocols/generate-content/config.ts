import * as z from 'zod';
import { anyObject, listOf } from '../bounded.ts';
import { guardedNames } from '../fields.ts';
import { anyJson, enumName, message } from './proto-json.ts';

/**
 * GEM-1: the vendor judges thinking, temperature and the other sampling fields itself, for each model of its own. A level is its
 * word, too; there are more of them with every generation.
 */
const thinkingConfig = message({
  thinkingLevel: z
    .string()
    .regex(/^[a-z_]{1,64}$/i, 'must be the name of a level')
    .optional(),
  thinkingBudget: z.int().optional(),
  includeThoughts: z.boolean().optional(),
});

/** https://ai.google.dev/gemini-api/docs/image-generation#aspect_ratios_and_image_size; the longest four are not for every model. */
const aspectRatios = [
  ...['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
  ...['1:4', '4:1', '1:8', '8:1'],
] as const;

/**
 * https://ai.google.dev/api/generate-content#ImageConfig, for models that draw. Its other members are not for this vendor's own API,
 * as the conversions of @google/genai say. The sizes are those of the entry.
 */
const imageConfig = message({
  aspectRatio: z.enum(aspectRatios).optional(),
  imageSize: z.string().optional(),
});

/** https://ai.google.dev/api/generate-content#generationconfig */
export const generationConfig = message(
  {
    temperature: z.number().optional(),
    topP: z.number().optional(),
    topK: z.number().optional(),
    candidateCount: z.int().min(1, 'must be at least 1').max(8, 'must be at most 8').optional(),
    maxOutputTokens: z.int().min(1, 'must be at least 1').optional(),
    stopSequences: listOf(z.string(), { max: 16, message: 'must be an array of strings' }).optional(),
    seed: z.int().optional(),
    presencePenalty: z.number().optional(),
    frequencyPenalty: z.number().optional(),
    responseLogprobs: z.boolean().optional(),
    logprobs: z.int().min(0, 'must be at least 0').max(20, 'must be at most 20').optional(),
    responseMimeType: z.enum(['text/plain', 'application/json', 'text/x.enum']).optional(),
    responseSchema: anyObject.optional(),
    responseJsonSchema: anyJson.optional(),
    responseModalities: listOf(enumName('TEXT', 'IMAGE'), {
      max: 2,
      message: 'must be a list of "TEXT" and "IMAGE"',
    }).optional(),
    imageConfig: imageConfig.optional(),
    mediaResolution: enumName(
      'MEDIA_RESOLUTION_UNSPECIFIED',
      'MEDIA_RESOLUTION_LOW',
      'MEDIA_RESOLUTION_MEDIUM',
      'MEDIA_RESOLUTION_HIGH',
    ).optional(),
    thinkingConfig: thinkingConfig.optional(),
  },
  {
    guarded: guardedNames,
    refused: {
      responseFormat: 'not supported. Use responseMimeType with responseJsonSchema.',
      speechConfig: 'speech is not supported here. Use POST /v1/audio/speech.',
    },
  },
);

const functionDeclaration = message({
  name: z.string().min(1, 'must be the name of a function'),
  description: z.string().optional(),
  parameters: anyObject.optional(),
  parametersJsonSchema: anyJson.optional(),
  response: anyObject.optional(),
  responseJsonSchema: anyJson.optional(),
});

const runsAtVendor = 'this tool runs at the provider and has a price of its own. Use functionDeclarations.';

/** Functions that the client runs. Any other member is another tool (GEN-9). */
export const tool = message(
  {
    functionDeclarations: listOf(functionDeclaration, {
      max: 1_000,
      message: 'must be an array of functions',
    }).optional(),
  },
  {
    kinds: [],
    refused: {
      codeExecution: runsAtVendor,
      computerUse: runsAtVendor,
      fileSearch: runsAtVendor,
      googleMaps: runsAtVendor,
      googleSearch: runsAtVendor,
      googleSearchRetrieval: runsAtVendor,
      mcpServers: runsAtVendor,
      urlContext: runsAtVendor,
    },
  },
);

export const toolConfig = message({
  functionCallingConfig: message({
    mode: enumName('MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED').optional(),
    allowedFunctionNames: listOf(z.string(), { max: 1_000, message: 'must be an array of names' }).optional(),
  }).optional(),
  includeServerSideToolInvocations: z.literal(false, 'must be false: tools run at the client').optional(),
});

export const safetySetting = message({ category: z.string().optional(), threshold: z.string().optional() });

export type GenerationConfig = z.output<typeof generationConfig>;
