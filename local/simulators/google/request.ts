import * as z from 'zod';
import { recordOf } from '../../../lambdas/protocols/parse.ts';
import { bytes, enumOf, int64, message, repeated, struct } from './proto.ts';

/**
 * Fields of `generateContent`. Unknown names are refused: https://github.com/googleapis/python-genai/issues/1088
 * Sources: @google/genai 3.1.0, the conversions it makes for the Gemini API; https://ai.google.dev/api/generate-content
 */
const inlineData = message({ mimeType: z.string().optional(), data: bytes.optional() });
const fileData = message({ mimeType: z.string().optional(), fileUri: z.string().optional() });
/** Media in the result of a function: https://ai.google.dev/gemini-api/docs/function-calling#multimodal */
const resultPart = message({ inlineData: inlineData.optional(), fileData: fileData.optional() });

const part = message({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: bytes.optional(),
  inlineData: inlineData.optional(),
  fileData: fileData.optional(),
  functionCall: message({ id: z.string().optional(), name: z.string().optional(), args: struct.optional() }).optional(),
  functionResponse: message({
    id: z.string().optional(),
    name: z.string().optional(),
    response: struct.optional(),
    parts: repeated(resultPart).optional(),
    willContinue: z.boolean().optional(),
    scheduling: z.string().optional(),
  }).optional(),
  executableCode: struct.optional(),
  codeExecutionResult: struct.optional(),
  toolCall: struct.optional(),
  toolResponse: struct.optional(),
  videoMetadata: struct.optional(),
  partMetadata: struct.optional(),
  mediaResolution: struct.optional(),
  mediaProcessing: struct.optional(),
});

export const content = message({ role: z.string().optional(), parts: repeated(part).optional() });

/** The provider's subset of OpenAPI, without `additionalProperties`, `const` and `$ref`. */
const openApiSchema: z.ZodType<unknown> = z.lazy(() =>
  message({
    type: enumOf(['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']).optional(),
    format: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    nullable: z.boolean().optional(),
    enum: repeated(z.string()).optional(),
    items: openApiSchema.optional(),
    minItems: int64.optional(),
    maxItems: int64.optional(),
    properties: recordOf(openApiSchema, 10_000).optional(),
    required: repeated(z.string()).optional(),
    propertyOrdering: repeated(z.string()).optional(),
    minProperties: int64.optional(),
    maxProperties: int64.optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: int64.optional(),
    maxLength: int64.optional(),
    pattern: z.string().optional(),
    anyOf: repeated(openApiSchema).optional(),
    default: z.unknown().optional(),
    example: z.unknown().optional(),
  }),
);

const functionDeclaration = message({
  name: z.string().optional(),
  description: z.string().optional(),
  parameters: openApiSchema.optional(),
  parametersJsonSchema: z.unknown().optional(),
  response: openApiSchema.optional(),
  responseJsonSchema: z.unknown().optional(),
  behavior: z.string().optional(),
});

/** Tools that Google runs are accepted and not simulated. */
const tool = message({
  functionDeclarations: repeated(functionDeclaration).optional(),
  googleSearch: struct.optional(),
  googleSearchRetrieval: struct.optional(),
  googleMaps: struct.optional(),
  codeExecution: struct.optional(),
  computerUse: struct.optional(),
  urlContext: struct.optional(),
  fileSearch: struct.optional(),
  mcpServers: repeated(struct).optional(),
});

const toolConfig = message({
  functionCallingConfig: message({
    mode: enumOf(['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
    allowedFunctionNames: repeated(z.string()).optional(),
  }).optional(),
  retrievalConfig: struct.optional(),
  includeServerSideToolInvocations: z.boolean().optional(),
});

const generationConfig = message({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.number().min(0).optional(),
  candidateCount: z.int().min(1).max(8).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  stopSequences: repeated(z.string()).optional(),
  presencePenalty: z.number().optional(),
  frequencyPenalty: z.number().optional(),
  responseLogprobs: z.boolean().optional(),
  logprobs: z.int().optional(),
  // Messages of users: `generation_config.seed' (TYPE_INT32), 3812238859`, in many repositories from 2025 and 2026.
  seed: z
    .int()
    .refine((seed) => (seed | 0) === seed, 'int32')
    .optional(),
  responseMimeType: z.enum(['text/plain', 'application/json', 'text/x.enum']).optional(),
  responseSchema: openApiSchema.optional(),
  responseJsonSchema: z.unknown().optional(),
  responseModalities: repeated(z.string()).optional(),
  mediaResolution: z.string().optional(),
  thinkingConfig: message({
    thinkingLevel: enumOf(['THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH']).optional(),
    thinkingBudget: z.int().optional(),
    includeThoughts: z.boolean().optional(),
  }).optional(),
  imageConfig: message({ aspectRatio: z.string().optional(), imageSize: z.string().optional() }).optional(),
  speechConfig: struct.optional(),
  audioTranscriptionConfig: struct.optional(),
  enableEnhancedCivicAnswers: z.boolean().optional(),
});

export const generateRequest = message({
  model: z.string().optional(),
  contents: repeated(content).optional(),
  systemInstruction: content.optional(),
  tools: repeated(tool).optional(),
  toolConfig: toolConfig.optional(),
  safetySettings: repeated(message({ category: z.string().optional(), threshold: z.string().optional() })).optional(),
  generationConfig: generationConfig.optional(),
  cachedContent: z.string().optional(),
  continuationToken: bytes.optional(),
  serviceTier: z.string().optional(),
  store: z.boolean().optional(),
  labels: recordOf(z.string(), 64).optional(),
});

export type GenerateRequest = z.infer<typeof generateRequest>;
export type Content = z.infer<typeof content>;
export type Part = z.infer<typeof part>;
export type FunctionDeclaration = z.infer<typeof functionDeclaration>;

export const countRequest = message({
  contents: repeated(content).optional(),
  generateContentRequest: generateRequest.optional(),
});
