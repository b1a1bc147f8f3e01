import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Scenario } from '../scenario.ts';
import { type Answer, jsonAnswer, type Wire } from '../wire.ts';
import { type EmbeddingsRequest, parseEmbeddingsRequest, tooLong } from './embeddings-request.ts';
import { openaiRefusal } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { modelOf } from './loose-body.ts';

/** `POST /v1/embeddings`: equal inputs have equal vectors of length one, which have no other meaning. */
export const openaiEmbeddings: Wire = {
  method: 'POST',
  path: /^\/v1\/embeddings$/,
  isAuthorized: hasBearer,
  lastUserText,
  answer,
  refuse: (refusal, request) => openaiRefusal(refusal, modelOf(request.body), tooLong(9000)),
  errorFrame: () => '',
  headers: openaiHeaders,
};

function answer({ body }: { readonly body: unknown }, { noUsage, claimedUsage }: Scenario): Answer {
  const request = parseEmbeddingsRequest(body);
  const tokens = claimedUsage?.input ?? request.tokens;
  const data = request.inputs.map((input, index) => ({
    object: 'embedding',
    index,
    embedding: encode(unitVector(input, request.dimensions), request),
  }));
  const usage = noUsage ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
  return jsonAnswer({ object: 'list', data, model: request.model, usage });
}

/** Returns the numbers, or the base64 of their floats, which are little-endian on every machine. */
function encode(vector: Float32Array, { base64 }: EmbeddingsRequest): string | readonly number[] {
  if (!base64) return [...vector];
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

function unitVector(input: string | readonly number[], dimensions: number): Float32Array {
  const bytes = createHash('shake256', { outputLength: dimensions * 2 })
    .update(JSON.stringify(input))
    .digest();
  const raw = Array.from({ length: dimensions }, (_, index) => bytes.readInt16LE(index * 2) + 0.5);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
}

const looseSchema = z.looseObject({ input: z.unknown() });
const lines = z.union([z.string().transform((text) => [text]), z.array(z.string())]);

function lastUserText(body: unknown): string {
  const input = looseSchema.safeParse(body).data?.input;
  return (lines.safeParse(input).data ?? []).join('\n');
}
