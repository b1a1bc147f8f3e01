import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../core/json.ts';
import { type RefusalContext, unreadable } from '../refusals.ts';
import { type AskedIn, toInBandError } from './errors.ts';
import type { LinkImage } from './linked-content.ts';

const part = z.object({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  inlineData: z.object({ data: z.string().nullish() }).nullish(),
  functionCall: z.object({ id: z.string().nullish(), name: z.string().min(1), args: z.unknown().optional() }).nullish(),
});

const partList = z.array(part);

export type Part = z.output<typeof part>;

/**
 * A whole answer or a piece of a streamed one. https://ai.google.dev/api/generate-content#generatecontentresponse: the first
 * candidate's index may be left out, and a prompt that was blocked has no candidates.
 */
const generated = z.object({
  candidates: z
    .array(
      z.object({
        index: z.int().catch(0),
        content: z.object({ parts: z.array(z.unknown()).nullish() }).nullish(),
        finishReason: z.string().nullish(),
      }),
    )
    .nullish()
    .transform((candidates) => candidates ?? []),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z.unknown().optional(),
  responseId: z.string().nullish().catch(null),
});

export type Generated = z.output<typeof generated>;
export type Candidate = Generated['candidates'][number];

/** Looked into only for clients of another protocol: others get them as they came. */
export const partsOf = (candidate: Candidate | undefined): readonly Part[] => {
  const parsed = partList.safeParse(candidate?.content?.parts ?? []);
  if (!parsed.success) throw unreadable();
  return parsed.data;
};

export interface InBand {
  readonly told: RefusalContext;
  readonly protocol: AskedIn;
  /** Of a model that draws. */
  readonly linkImage?: LinkImage | undefined;
}

/** Throws the error that stands in the place of an answer. */
export const toGenerated = (body: JsonValue, { told, protocol }: InBand): Generated & { readonly body: JsonObject } => {
  const object = Array.isArray(body) ? body[0] : body;
  if (isJsonObject(object) && isJsonObject(object.error)) throw toInBandError(object, told, protocol);
  const parsed = generated.safeParse(body);
  if (!isJsonObject(body) || !parsed.success) throw unreadable();
  return { ...parsed.data, body };
};

export const readChunk = (data: string, inBand: InBand): Generated => toGenerated(parseChunk(data), inBand);

const parseChunk = (data: string): JsonValue => {
  try {
    return parseJson(data);
  } catch {
    throw unreadable();
  }
};

export const blocked = ({ promptFeedback }: Generated): boolean => Boolean(promptFeedback?.blockReason);

/** The proto's zero value says that the model goes on. */
export const finishReasonOf = ({ finishReason }: Candidate): string | undefined =>
  finishReason && finishReason !== 'FINISH_REASON_UNSPECIFIED' ? finishReason : undefined;
