import { createHandler } from '../../http/handler.ts';
import { chatCompletions } from '../../protocols/chat-completions/response.ts';
import { createEmbeddings } from '../../protocols/embeddings/handler.ts';
import {
  createCountContentTokens,
  createStreamGenerateContent,
  generateContent,
} from '../../protocols/generate-content/response.ts';
import { createCountMessageTokens, messages } from '../../protocols/messages/response.ts';
import { createModerations } from '../../protocols/moderations/handler.ts';
import { responses } from '../../protocols/responses/response.ts';
import type { TextRouteDependencies } from '../../protocols/text-adapter.ts';
import { createTextRoute } from '../../protocols/text-route.ts';
import { createMessageTokenCounter } from '../../providers/anthropic/messages-wire.ts';
import { createContentTokenCounter } from '../../providers/google/generate-content-wire.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toIdempotencyDependencies, toProcessDependencies } from './paid-call.ts';
import { toInputWires, toTextWires } from './text-wires.ts';
import { toWireOptions } from './wire-options.ts';

export const createTextHandler = (deps: FunctionDependencies, { http, paid } = toProcessDependencies(deps)) => {
  const options = toWireOptions(deps);
  const text: TextRouteDependencies = {
    text: { ...paid, wires: toTextWires(deps, options) },
    idempotency: toIdempotencyDependencies(deps, paid.ledger),
    finished: deps.reporting.finished,
  };
  const input = { ...paid, wires: toInputWires(options) };
  const counting = { catalog: deps.catalog, clock: deps.clock, reachable: paid.reachable };
  return createHandler(http, {
    chatCompletions: createTextRoute(text, chatCompletions),
    responses: createTextRoute(text, responses),
    messages: createTextRoute(text, messages),
    countMessageTokens: createCountMessageTokens({ ...counting, count: createMessageTokenCounter(options) }),
    generateContent: createTextRoute(text, generateContent),
    streamGenerateContent: createStreamGenerateContent(text),
    countContentTokens: createCountContentTokens({ ...counting, count: createContentTokenCounter(options) }),
    embeddings: createEmbeddings(input),
    moderations: createModerations(input),
  });
};
