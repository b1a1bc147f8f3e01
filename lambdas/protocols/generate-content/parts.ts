import * as z from 'zod';
import { anyObject, listOf } from '../bounded.ts';
import { enumName, message } from './proto-json.ts';

const many = { max: 10_000, message: 'must be an array of parts' };

/** Clients name their files. The vendor's Gemini API does not know the name. */
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

/** A video is counted at one frame a second; more frames would cost more than the hold knows. */
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

const runsAtVendor = 'it belongs to a tool that runs at the provider, which is not supported. Leave the part out.';

/** https://ai.google.dev/api/caching#Part */
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
      executableCode: runsAtVendor,
      codeExecutionResult: runsAtVendor,
      toolCall: runsAtVendor,
      toolResponse: runsAtVendor,
    },
  },
);

export const content = message(
  { role: enumName('user', 'model').optional(), parts: listOf(part, many).optional() },
  { kinds: ['parts'], isCopied: ({ role }) => typeof role === 'string' && role.toLowerCase() === 'model' },
);

const textOnly = 'a system instruction is text. Send the part in contents.';

/** Text only, as the vendor's reference says; the role is not read. */
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
