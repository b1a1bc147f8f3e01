import type { TextModel } from '../core/catalog/schema.ts';
import type { ClaimedRequest } from '../core/idempotency/claimed-execution.ts';
import type { AnswerBy } from '../core/paid-call/dependencies.ts';
import type { TextParams } from '../core/text/conversation.ts';
import { type GeneratedText, generateText, type Outcome } from '../core/text/generate-text.ts';
import { planAnswer } from '../http/early-answer.ts';
import type { Exchange, GatewayResponse, RouteHandler } from '../http/exchange.ts';
import { alternativesIn } from './alternatives.ts';
import { refuseIgnored } from './fields.ts';
import { idempotentAnswer, toStored } from './idempotent-answer.ts';
import { streamEarlyResponse, streamedAnswer } from './live-answer.ts';
import { callerOf, noKeys, type PaidHeaders, readPaidHeaders } from './paid-request.ts';
import { balanceHeaders, costHeaders, dryRunAnswer, factHeaders, recordReceipt } from './paid-response.ts';
import type { AnswerContext, TextProtocolAdapter, TextRouteDependencies } from './text-adapter.ts';

/** Creates a route that responds with generated text. */
export const createTextRoute =
  (deps: TextRouteDependencies, adapter: TextProtocolAdapter): RouteHandler =>
  async (exchange) => {
    const { body, event } = exchange;
    if (!body) throw new Error('a text request without a body');
    const streams = adapter.streams ?? body.json.stream === true;
    const headers = readPaidHeaders(event.headers, adapter.headers ?? noKeys, streams);
    const { idempotencyKey: key, fallbacks, dryRun } = headers;
    const answerBy = planAnswer(
      exchange,
      streams && !dryRun ? { kind: 'stream', opening: streamEarlyResponse(adapter, exchange) } : { kind: 'json' },
    );
    const asked = { deps, adapter, exchange, body, headers, answerBy };
    if (key === undefined) return await answer(asked);
    const params = { key, body: body.json, fallbackModelIds: fallbacks?.modelIds };
    return idempotentAnswer(deps.idempotency, exchange, params, (claimed) => answer(asked, claimed));
  };

interface Asked {
  readonly deps: TextRouteDependencies;
  readonly adapter: TextProtocolAdapter;
  readonly exchange: Exchange;
  readonly body: NonNullable<Exchange['body']>;
  readonly headers: PaidHeaders;
  readonly answerBy: AnswerBy | undefined;
}

const answer = async (
  { deps, adapter, exchange, body, headers: { dryRun, fallbacks, requireParameters }, answerBy }: Asked,
  claimed?: ClaimedRequest,
): Promise<GatewayResponse> => {
  const { text } = deps;
  const { requestId, summary } = exchange;
  const alternatives = alternativesIn(text.catalog, adapter.protocol, text.ledger.clock.now());
  const parsed = adapter.toParams({ ...exchange, body }, alternatives);
  // The log has only model ids of the catalog, never the client's text.
  const order: TextParams = {
    ...parsed,
    fallbacks,
    validateFor: (model) => {
      summary.model = model.id;
      const request = parsed.validateFor(model);
      if (requireParameters) refuseIgnored(request.ignored, model.id);
      return request;
    },
  };
  if (order.endUser !== undefined) summary.endUser = order.endUser;
  const separateUsage = adapter.separatesUsage?.(body.json) ?? false;
  const contextOf = ({ id }: TextModel): AnswerContext => ({
    modelId: id,
    requestId,
    nowMs: text.ledger.clock.now(),
    separateUsage,
  });
  const generated = await generateText(text, callerOf(exchange, answerBy), order, {
    render: (sent, model) => adapter.toBody(sent, contextOf(model)),
    createCutter: adapter.createCutter,
    dryRun,
    ...(claimed && {
      idempotent: { claimed, toStored: (outcome, body, costPicos) => toStored(whole(outcome, body, costPicos)) },
    }),
  });
  if (generated.kind === 'dry_run') return dryRunAnswer(exchange, generated);
  summary.model = generated.model.id;
  summary.firstByteMs = text.ledger.clock.now() - exchange.startedAtMs;
  return generated.kind === 'stream'
    ? streamedAnswer(deps, adapter, exchange, generated, contextOf(generated.model))
    : plain(exchange, generated);
};

const plain = ({ summary }: Exchange, generated: Extract<GeneratedText, { kind: 'answer' }>): GatewayResponse => {
  const { receipt, body } = generated;
  recordReceipt(summary, receipt);
  const response = whole(generated, body, receipt.costPicos);
  return { ...response, headers: { ...response.headers, ...balanceHeaders(receipt.balancePicos) } };
};

/** Builds the complete response. A replay later sends the same response. */
const whole = ({ model, ...facts }: Outcome, body: string, costPicos: bigint): GatewayResponse => ({
  statusCode: 200,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    ...costHeaders(costPicos),
    ...factHeaders({ modelId: model.id, ...facts }),
  },
  body,
});
