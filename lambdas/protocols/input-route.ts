import { Readable } from 'node:stream';
import type { InputModel, InputParams, PaidInput } from '../core/inputs/paid-input.ts';
import type { Caller } from '../core/paid-call/dependencies.ts';
import { promptTokensOf } from '../core/pricing/charge.ts';
import { planAnswer } from '../http/early-answer.ts';
import type { Exchange, RouteHandler } from '../http/exchange.ts';
import { refuseIgnored } from './fields.ts';
import { callerOf, noKeys, readPaidHeaders } from './paid-request.ts';
import { balanceHeaders, costHeaders, dryRunAnswer, ignoredHeaders } from './paid-response.ts';

export interface InputProtocolAdapter<Sold extends InputModel> {
  /** Checks the body as far as possible without a model. Throws the 400 that names the field. */
  toParams(body: NonNullable<Exchange['body']>): InputParams<Sold>;
  readonly answer: (caller: Caller, order: InputParams<Sold>) => Promise<PaidInput>;
}

/** Creates a route that charges only for the input. It passes the provider's complete response on. */
export const createInputRoute =
  <Sold extends InputModel>({ toParams, answer }: InputProtocolAdapter<Sold>): RouteHandler =>
  async (exchange) => {
    const { summary, body, event } = exchange;
    if (!body) throw new Error('a request without a body');
    const { dryRun, requireParameters } = readPaidHeaders(event.headers, noKeys, false);
    const caller = callerOf(exchange, planAnswer(exchange, { kind: 'json' }));
    const order = { ...toParams(body), dryRun };
    if (order.endUser !== undefined) summary.endUser = order.endUser;
    const paid = await answer(caller, {
      ...order,
      validateFor: (model) => {
        // Logs only model ids of the catalog, never the client's text.
        summary.model = model.id;
        const request = order.validateFor(model);
        if (requireParameters) refuseIgnored(request.ignored, model.id);
        return request;
      },
    });
    if (paid.kind === 'dry_run') return dryRunAnswer(exchange, paid);
    summary.costPicos = paid.receipt.costPicos;
    if (paid.answer.usage) summary.inputTokens = promptTokensOf(paid.answer.usage);
    const { bytes } = paid.answer;
    const length = bytes.reduce((sum, piece) => sum + piece.length, 0);
    // A response that has started early goes on as text.
    const isText = length < PIECES_FROM_BYTES || exchange.startedResponse !== undefined;
    return {
      statusCode: 200,
      headers: {
        ...(!isText && { 'content-length': String(length) }),
        'content-type': 'application/json; charset=utf-8',
        ...costHeaders(paid.receipt.costPicos),
        ...balanceHeaders(paid.receipt.balancePicos),
        ...ignoredHeaders(paid.ignored),
      },
      body: isText ? Buffer.concat(bytes).toString('utf8') : Readable.from(bytes),
    };
  };

/** Bytes from which a response is not copied into one text. */
const PIECES_FROM_BYTES = 64 * 1024;
