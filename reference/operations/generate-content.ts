import { countContentBody, generateContentBody } from '../../lambdas/protocols/generate-content/body.ts';
import { contentTokens, generatedContent } from '../answers/text.ts';
import { ofModels, ofPrompts } from '../error-codes.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { alt } from '../parameters.ts';
import { receipt } from '../response-headers.ts';

const spelling =
  'Names of fields are in camelCase or with underscores, a single object is read as a list of one, names of enumerations have upper or lower case, and null is the same as an absent field. A hint that the model does not support is ignored and listed in `X-Service-Ignored-Parameters`, and so is an unknown field.';

const repeated = 'The id in the path, if you repeat it here.';

const contentRequest: Body = {
  name: 'GenerateContentRequest',
  schema: generateContentBody,
  description: spelling,
  fields: {
    model: repeated,
    contents:
      'The conversation, at least one content. An image, video, recording, PDF or text document is `inlineData`. A video may be a link in `fileData`, which the vendor opens.',
    systemInstruction: 'What stands above the conversation.',
    tools: 'Functions that the model may call. Tools that run at the vendor are not served.',
    toolConfig: 'Whether and which function is called.',
    safetySettings: 'What the vendor’s filter lets through.',
    generationConfig:
      'Sampling, the cap `maxOutputTokens`, the form of the answer, `thinkingConfig` (`thinkingBudget`, `includeThoughts`), and images on models that draw.',
    continuationToken: 'Goes on with an answer that broke off; SDKs send it by themselves.',
    labels: 'Forwarded to the vendor.',
    serviceTier: 'Other tiers have other prices and are not served.',
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
      summary: 'With its thoughts',
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
    contents: 'The contents to count. Either this or `generateContentRequest`.',
    generateContentRequest: 'A whole request to count.',
  },
  examples: {
    contents: { summary: 'Contents', value: { contents: [{ role: 'user', parts: [{ text: 'Good evening' }] }] } },
  },
};

const path = { model: ['The id of a model with the protocol `generate_content`.', 'gemini-3.8-flash'] } as const;

const events = `data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Blue light "}]}}],"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7},"modelVersion":"gemini-3.8-flash"}

data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"is scattered away."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":6,"totalTokenCount":13},"modelVersion":"gemini-3.8-flash"}

`;

const native = [...ofPrompts, 'unprocessable_entity', 'idempotency_not_supported'] as const;

type Name = 'generateContent' | 'streamGenerateContent' | 'countContentTokens';

export const generateContentOperations: Record<Name, Operation> = {
  generateContent: {
    tag: 'Generate content',
    summary: 'Generate content',
    description: 'The answer passes as the vendor wrote it. Tokens of thoughts are charged as output.',
    path,
    json: contentRequest,
    answers: {
      '200': {
        description: 'The whole answer.',
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
      'With `alt=sse` the answer comes as server-sent events, else as one JSON array whose elements go out as they come. An array that breaks off stays open, and so does not parse. An error inside either is a `GenerateContentError`, whose code is the HTTP status as a number.',
    path,
    parameters: [alt],
    json: contentRequest,
    answers: {
      '200': {
        description: 'The answer as it arises, in pieces of the shape of the whole one.',
        headers: ['X-Service-Max-Tokens'],
        content: {
          'application/json': { schema: generatedContent.array() },
          'text/event-stream': streamOf(generatedContent, events),
        },
      },
    },
    codes: native,
  },
  countContentTokens: {
    tag: 'Generate content',
    summary: 'Count the tokens of contents',
    description: 'Free of charge, whatever the balance is.',
    path,
    json: countRequest,
    answers: {
      '200': {
        description: 'How many tokens there are.',
        content: { 'application/json': { schema: contentTokens } },
      },
    },
    codes: [...ofModels, ...native],
  },
};
