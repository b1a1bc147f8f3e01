import { countContentBody, generateContentBody } from '../../lambdas/protocols/generate-content/body.ts';
import { contentTokens, generatedContent } from '../answers/text.ts';
import { ofModels, ofPrompts } from '../error-codes.ts';
import { errorSchemas } from '../error-schemas.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { alt } from '../parameters.ts';
import { receipt } from '../response-headers.ts';

const spelling =
  'Field names are in camelCase or snake_case. A single object is accepted as a list of one. Enumeration names are in upper or lower case. Null counts as absent. Unknown fields, and optional fields that the model does not support, are ignored and listed in `X-Service-Ignored-Parameters`.';

const repeated = 'Id of the model. If present, it must equal the id in the path.';

const contentRequest: Body = {
  name: 'GenerateContentRequest',
  schema: generateContentBody,
  description: spelling,
  fields: {
    model: repeated,
    contents:
      'The conversation: at least one `Content` object. Images, videos, recordings, PDF and text documents are `inlineData`. A video may also be a link in `fileData`, which the provider opens.',
    systemInstruction: 'Instructions that precede the conversation.',
    tools: 'Functions that the model can call. Tools that run at the provider are not supported.',
    toolConfig: 'Whether the model calls a function, and which one.',
    safetySettings: "Thresholds of the provider's safety filter.",
    generationConfig:
      'Sampling, the limit `maxOutputTokens`, the output format, `thinkingConfig` (`thinkingBudget`, `includeThoughts`), and image settings for models that create images.',
    continuationToken: 'Continues an output that was cut off. SDKs send it automatically.',
    labels: 'Forwarded to the provider.',
    serviceTier: 'Other tiers have other prices and are not supported.',
  },
  examples: {
    plain: {
      summary: 'A question',
      value: {
        contents: [{ role: 'user', parts: [{ text: 'Why is the evening sky red?' }] }],
        generationConfig: { maxOutputTokens: 200, temperature: 0.7 },
      },
    },
    thoughts: {
      summary: 'With thoughts',
      value: {
        contents: [{ role: 'user', parts: [{ text: 'Why is the evening sky red?' }] }],
        generationConfig: { maxOutputTokens: 500, thinkingConfig: { includeThoughts: true } },
      },
    },
  },
};

const countRequest: Body = {
  name: 'CountContentRequest',
  schema: countContentBody,
  description: spelling,
  fields: {
    model: repeated,
    contents: 'Contents to count. Send either this or `generateContentRequest`.',
    generateContentRequest: 'Complete request to count.',
  },
  examples: {
    contents: { summary: 'Contents', value: { contents: [{ role: 'user', parts: [{ text: 'Good evening' }] }] } },
  },
};

const path = { model: ['Id of a model with the protocol `generate_content`.', 'gemini-3.8-flash'] } as const;

const events = `data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Blue light "}]}}],"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7},"modelVersion":"gemini-3.8-flash"}

data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"is scattered away."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":6,"totalTokenCount":13},"modelVersion":"gemini-3.8-flash"}

`;

const native = [...ofPrompts, 'unprocessable_entity', 'idempotency_not_supported'] as const;

type Name = 'generateContent' | 'streamGenerateContent' | 'countContentTokens';

export const generateContentOperations: Record<Name, Operation> = {
  generateContent: {
    tag: 'Generate content',
    summary: 'Generate content',
    description: "Returns the provider's response unchanged. Thought tokens are charged as output.",
    path,
    json: contentRequest,
    answers: {
      '200': {
        description: 'The complete response.',
        headers: [...receipt, 'X-Service-Max-Tokens'],
        content: { 'application/json': { schema: generatedContent } },
      },
    },
    codes: native,
  },
  streamGenerateContent: {
    tag: 'Generate content',
    summary: 'Generate content as a stream',
    description:
      'With `alt=sse`, the response is a stream of server-sent events. Otherwise it is one JSON array whose elements are sent as they arrive. An array that breaks off has no end, so it is not valid JSON. An error in either is a `GenerateContentError`, whose code is the HTTP status.',
    path,
    parameters: [alt],
    json: contentRequest,
    answers: {
      '200': {
        description: 'The stream. Each part has the shape of the complete response.',
        headers: ['X-Service-Max-Tokens'],
        content: {
          'application/json': { schema: generatedContent.array() },
          'text/event-stream': streamOf({
            event: generatedContent,
            error: errorSchemas.generate_content,
            example: events,
          }),
        },
      },
    },
    codes: native,
  },
  countContentTokens: {
    tag: 'Generate content',
    summary: 'Count the tokens of contents',
    description: 'Free of charge, at any balance.',
    path,
    json: countRequest,
    answers: {
      '200': {
        description: 'Number of tokens.',
        content: { 'application/json': { schema: contentTokens } },
      },
    },
    codes: [...ofModels, ...native],
  },
};
