import * as z from 'zod';
import type { JsonValue } from '../../core/json.ts';
import { type FieldPolicy, fields, guardedNames } from '../fields.ts';
import { anyObject, listOf, recordOf, showAs } from '../parse.ts';

/** Schema of a protobuf message in JSON. Lists unknown members unless the policy says otherwise. */
export const message = <Shape extends z.core.$ZodLooseShape>(shape: Shape, policy: Partial<FieldPolicy> = {}) =>
  fields(shape, { unknown: 'list', ...policy, spelling: 'proto' });

/** Name of an enum value. The provider reads it in any case, and it is sent as the client wrote it. */
export const enumName = (...names: readonly string[]) =>
  showAs(
    z
      .string()
      .refine(
        (name) => names.some((known) => known.toUpperCase() === name.toUpperCase()),
        `must be one of ${names.map((name) => JSON.stringify(name)).join(', ')}`,
      ),
    { kind: 'schema', schema: { type: 'string', enum: names } },
  );

/** Any JSON. Its content is not checked. */
export const anyJson = showAs(z.custom<JsonValue>(), { kind: 'schema', schema: {} });

/**
 * GEM-1: the provider checks thinking, temperature and the other sampling fields itself, for each of its models. The
 * same holds for the names of levels, because every generation adds some.
 */
const thinkingConfig = message({
  thinkingLevel: z
    .string()
    .regex(/^[a-z_]{1,64}$/i, 'must be the name of a level')
    .optional(),
  thinkingBudget: z.int().optional(),
  includeThoughts: z.boolean().optional(),
});

/**
 * https://ai.google.dev/gemini-api/docs/image-generation#aspect_ratios_and_image_size; some models do not support the
 * last four.
 */
const aspectRatios = [
  ...['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
  ...['1:4', '4:1', '1:8', '8:1'],
] as const;

/**
 * https://ai.google.dev/api/generate-content#ImageConfig, for models that generate images. The conversions of
 * @google/genai show that its other members do not exist in this API. The catalog entry defines the sizes.
 */
const imageConfig = message({
  aspectRatio: z.enum(aspectRatios).optional(),
  imageSize: z.string().optional(),
});

/** Source: https://ai.google.dev/api/generate-content#generationconfig */
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

const toolRunsAtProvider = 'this tool runs at the provider and is not supported. Use functionDeclarations.';

/** Functions that the client runs. Any other member is a different tool (GEN-9). */
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
      codeExecution: toolRunsAtProvider,
      computerUse: toolRunsAtProvider,
      fileSearch: toolRunsAtProvider,
      googleMaps: toolRunsAtProvider,
      googleSearch: toolRunsAtProvider,
      googleSearchRetrieval: toolRunsAtProvider,
      mcpServers: toolRunsAtProvider,
      urlContext: toolRunsAtProvider,
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

const many = { max: 10_000, message: 'must be an array of parts' };

/** Clients give their files a name, which the provider's Gemini API does not know. */
const named = { accepted: ['displayName'] };
const inlineData = message({ mimeType: z.string(), data: z.string() }, named).optional();
const fileData = message({ fileUri: z.string(), mimeType: z.string().optional() }, named).optional();

const functionCall = message(
  {
    id: z.string().optional(),
    name: z.string().min(1, 'must be the name of a function'),
    args: anyObject.optional(),
  },
  { unknown: 'accept' },
);

const functionResponse = message(
  {
    id: z.string().optional(),
    name: z.string().min(1, 'must be the name of a function'),
    response: anyObject.optional(),
    parts: listOf(message({ inlineData, fileData }, { kinds: ['inlineData', 'fileData'] }), many).optional(),
    willContinue: z.boolean().optional(),
    scheduling: z.string().optional(),
  },
  { unknown: 'accept' },
);

/** The estimate counts one frame per second of video. More frames would cost more than the hold covers. */
const videoMetadata = message({
  startOffset: z.string().optional(),
  endOffset: z.string().optional(),
  fps: z.number().gt(0, 'must be above 0').max(1, 'must be at most 1').optional(),
});

const mediaResolution = message({
  level: enumName(
    'MEDIA_RESOLUTION_UNSPECIFIED',
    'MEDIA_RESOLUTION_LOW',
    'MEDIA_RESOLUTION_MEDIUM',
    'MEDIA_RESOLUTION_HIGH',
    'MEDIA_RESOLUTION_ULTRA_HIGH',
  ).optional(),
});

const partRunsAtProvider =
  'this part belongs to a tool that runs at the provider, which is not supported. Remove the part.';

/** Source: https://ai.google.dev/api/caching#Part */
const part = message(
  {
    text: z.string().optional(),
    thought: z.boolean().optional(),
    thoughtSignature: z.string().optional(),
    inlineData,
    fileData,
    functionCall: functionCall.optional(),
    functionResponse: functionResponse.optional(),
    videoMetadata: videoMetadata.optional(),
    mediaResolution: mediaResolution.optional(),
    partMetadata: anyObject.optional(),
  },
  {
    kinds: ['text', 'thoughtSignature', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
    refused: {
      executableCode: partRunsAtProvider,
      codeExecutionResult: partRunsAtProvider,
      toolCall: partRunsAtProvider,
      toolResponse: partRunsAtProvider,
    },
  },
);

/**
 * Older SDKs give results of functions a role of their own, which models of 2026 reject:
 * https://github.com/genkit-ai/genkit/pull/5782 (2026-07-22), https://github.com/langchain-ai/langchain-google/issues/1059
 */
const role = enumName('user', 'model', 'function', 'tool').transform((name) =>
  /^(?:function|tool)$/i.test(name) ? 'user' : name,
);

export const content = message(
  { role: role.optional(), parts: listOf(part, many).optional() },
  { kinds: ['parts'], isCopied: ({ role }) => typeof role === 'string' && role.toLowerCase() === 'model' },
);

const textOnly = 'a system instruction must be text. Send the part in contents.';

/** Accepts only text, as the provider's reference says. The role is not read. */
export const systemInstruction = message(
  {
    role: z.string().optional(),
    parts: listOf(
      message(
        { text: z.string() },
        {
          refused: { inlineData: textOnly, fileData: textOnly, functionCall: textOnly, functionResponse: textOnly },
          kinds: ['text'],
        },
      ),
      many,
    ).optional(),
  },
  { kinds: ['parts'] },
);

export type Content = z.output<typeof content>;
export type Part = z.output<typeof part>;

const contents = listOf(content, { min: 1, max: 10_000, message: 'must be an array with at least one content' });

/** Source: https://ai.google.dev/api/generate-content#request-body */
export const generateContentBody = message(
  {
    /**
     * Some SDKs repeat the model of the path here:
     * https://github.com/google-gemini/deprecated-generative-ai-swift/pull/175
     */
    model: z.string().optional(),
    contents,
    systemInstruction: systemInstruction.optional(),
    tools: listOf(tool, { max: 1_000, message: 'must be an array of tools' }).optional(),
    toolConfig: toolConfig.optional(),
    safetySettings: listOf(safetySetting, { max: 100, message: 'must be an array of settings' }).optional(),
    generationConfig: generationConfig.optional(),
    /**
     * The provider's SDKs send it although their user did not ask for it:
     * https://ai.google.dev/gemini-api/docs/generate-content/long-decode
     */
    continuationToken: z.string().optional(),
    labels: recordOf(z.string(), 64).optional(),
    serviceTier: enumName('standard', 'unspecified').optional(),
  },
  {
    guarded: guardedNames,
    refused: {
      cachedContent: 'caches at the provider are not supported. Send the content in contents.',
      maxOutputTokens: 'unknown field. Use generationConfig.maxOutputTokens.',
      store: 'must be false. The gateway stores no requests.',
    },
  },
);

const inRequest = 'not counted together with contents. Send the whole request as generateContentRequest.';

/** Source: https://ai.google.dev/api/tokens#request-body */
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
