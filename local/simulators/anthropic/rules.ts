import type * as z from 'zod';
import { isRecord } from '../json-sample.ts';
import type { VendorRefusal } from '../wire.ts';
import { refuseUnnamedBetas } from './beta-rules.ts';
import { cacheRules } from './cache-rules.ts';
import { anthropicError } from './error.ts';
import { refuseFormat, refuseToolSchemas } from './format-rules.ts';
import type { Version } from './headers.ts';
import { messageRules } from './message-rules.ts';
import { findModel, type ModelFacts } from './model-facts.ts';
import { modelRules } from './model-rules.ts';
import { type PromptBlock, promptBlocks } from './prompt-blocks.ts';
import { type CountRequest, countRequestSchema, type MessagesRequest, messagesRequestSchema } from './request.ts';
import { schemaRefusal } from './schema-error.ts';

export type Parsed<Request> = {
  readonly request: Request;
  readonly facts: ModelFacts;
  /** Prompt before the edits of `context_management`. */
  readonly blocks: readonly PromptBlock[];
};

/** Parses the request, or throws the provider's 400 or 404. */
export function parseMessagesRequest(
  body: unknown,
  version: Version,
  betas: ReadonlySet<string>,
): Parsed<MessagesRequest> {
  const parsed = parse(messagesRequestSchema, body);
  const { request, facts } = parsed;
  throwFirst([refuseRemovedFields(request, version), ...modelRules.map((rule) => rule(request, facts))]);
  throwFirst(commonRules(parsed, betas));
  return parsed;
}

export function parseCountRequest(body: unknown, betas: ReadonlySet<string>): Parsed<CountRequest> {
  const parsed = parse(countRequestSchema, body);
  throwFirst(commonRules(parsed, betas));
  return parsed;
}

/** Null in an optional field equals an absent field, which the SDK's types allow for most fields. */
function parse<Schema extends z.ZodType<CountRequest>>(schema: Schema, body: unknown): Parsed<z.output<Schema>> {
  if (!isRecord(body)) throw anthropicError(400, 'The request body is not valid JSON.');
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)));
  if (!parsed.success) throw schemaRefusal(parsed.error, body);
  const facts = findModel(parsed.data.model);
  if (facts === undefined) throw anthropicError(404, `model: ${parsed.data.model}`);
  return { request: parsed.data, facts, blocks: promptBlocks(parsed.data, facts) };
}

function* commonRules(
  { request, facts, blocks }: Parsed<CountRequest>,
  betas: ReadonlySet<string>,
): Generator<VendorRefusal | undefined> {
  yield refuseUnnamedBetas(request, betas);
  for (const rule of messageRules) yield rule(request, facts);
  for (const rule of cacheRules) yield rule(blocks, request);
  yield refuseToolSchemas(request);
  yield refuseFormat(request);
}

/**
 * Rejects the sampling fields that version 2026-10-21 has removed. The status is 400 according to
 * https://platform.claude.com/docs/en/api/migration-2026-10-21, which does not quote the message.
 */
function refuseRemovedFields(request: MessagesRequest, version: Version): VendorRefusal | undefined {
  if (version === '2023-06-01') return undefined;
  const removed = (['temperature', 'top_p', 'top_k'] as const).find((name) => request[name] !== undefined);
  return removed === undefined ? undefined : anthropicError(400, `${removed}: Extra inputs are not permitted`);
}

function throwFirst(refusals: Iterable<VendorRefusal | undefined>): void {
  for (const refusal of refusals) if (refusal !== undefined) throw refusal;
}
