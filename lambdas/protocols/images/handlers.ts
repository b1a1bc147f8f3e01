import type { IdempotencyDependencies } from '../../core/idempotency/claim-store.ts';
import type { ClaimedRequest } from '../../core/idempotency/claimed-execution.ts';
import {
  drawImages,
  type ImageDependencies,
  type ImageParams,
  type MadeImages,
} from '../../core/images/draw-images.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Caller } from '../../core/paid-call/dependencies.ts';
import { promptTokensOf, type TokenUsage } from '../../core/pricing/charge.ts';
import { planAnswer } from '../../http/early-answer.ts';
import { type Exchange, type GatewayResponse, json, type RouteHandler } from '../../http/exchange.ts';
import { idempotentAnswer, toStored } from '../idempotent-answer.ts';
import { callerOf, readPaidHeaders } from '../paid-request.ts';
import { balanceHeaders, costHeaders, dryRunAnswer, recordReceipt } from '../paid-response.ts';
import type { FetchImages } from './edit-json.ts';
import { toEditParams, toGenerationParams, toJsonEditParams } from './request.ts';

/** https://platform.openai.com/docs/api-reference/images/object. `size` is the actual size of each image (IMG-9). */
export const toImagesAnswer = ({ images, usage }: MadeImages, nowMs: number): JsonObject => ({
  created: Math.floor(nowMs / 1_000),
  data: images.map(({ content, width, height, generated, revisedPrompt }) => ({
    ...(content.kind === 'url' ? { url: content.url } : { b64_json: content.text }),
    size: `${width}x${height}`,
    ...(generated ? { generated_size: `${generated.width}x${generated.height}` } : {}),
    ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
  })),
  ...(usage ? { usage: toImageUsage(usage) } : {}),
});

const toImageUsage = (usage: TokenUsage): JsonObject => {
  const { imageInput = 0, cachedImageInput = 0, imageOutput = 0, output, reasoning } = usage;
  const input = promptTokensOf(usage);
  const images = imageInput + cachedImageInput;
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - images, image_tokens: images },
    output_tokens: imageOutput + output + reasoning,
    output_tokens_details: { text_tokens: output + reasoning, image_tokens: imageOutput },
    total_tokens: input + imageOutput + output + reasoning,
  };
};

export interface ImageRouteDependencies {
  readonly draw: ImageDependencies;
  readonly idempotency: IdempotencyDependencies;
  readonly fetchImages: FetchImages;
}

type ParsedParams = Omit<ImageParams, 'dryRun'>;

export const createImageRoutes = (
  deps: ImageRouteDependencies,
): Record<'generateImages' | 'editImages', RouteHandler> => ({
  /** POST /v1/images/generations. The body is JSON, so the route supports idempotency keys (IDEM-1). */
  generateImages: (exchange) => respond(deps, exchange, ({ json }) => toGenerationParams(json)),
  /** POST /v1/images/edits. The body is a form, or JSON with an optional idempotency key (IMG-5, IDEM-5). */
  editImages: (exchange) => {
    const { form } = exchange;
    return respond(
      deps,
      exchange,
      form ? () => toEditParams(form) : ({ json }) => toJsonEditParams(json, deps.fetchImages),
    );
  },
});

const respond = async (
  deps: ImageRouteDependencies,
  exchange: Exchange,
  parse: (body: { readonly json: JsonObject }) => ParsedParams,
): Promise<GatewayResponse> => {
  const { body = { json: {} }, form, event } = exchange;
  const rules = { takesKeys: form === undefined, takesFallback: false };
  const { dryRun, idempotencyKey: key } = readPaidHeaders(event.headers, rules, false);
  const caller = callerOf(exchange, planAnswer(exchange, { kind: 'json' }));
  const work = (claimed?: ClaimedRequest) => answer(deps, exchange, caller, { ...parse(body), dryRun }, claimed);
  if (key === undefined) return work();
  return idempotentAnswer(deps.idempotency, exchange, { key, body: body.json }, work);
};

const answer = async (
  { draw }: ImageRouteDependencies,
  exchange: Exchange,
  caller: Caller,
  parsed: ParsedParams & Pick<ImageParams, 'dryRun'>,
  claimed?: ClaimedRequest,
): Promise<GatewayResponse> => {
  const { startedAtMs, summary } = exchange;
  const { clock } = draw.ledger;
  const order: ImageParams = {
    ...parsed,
    validateFor: (model) => {
      // Logs only model ids of the catalog, never the client's text.
      summary.model = model.id;
      return parsed.validateFor(model);
    },
  };
  if (order.endUser !== undefined) summary.endUser = order.endUser;
  const whole = (made: MadeImages, costPicos: bigint) =>
    json(200, toImagesAnswer(made, startedAtMs), costHeaders(costPicos));
  const idempotent = claimed && {
    claimed,
    toStored: (made: MadeImages, costPicos: bigint) => toStored(whole(made, costPicos)),
  };
  const drawn = await drawImages(draw, caller, order, idempotent);
  if (drawn.kind === 'dry_run') return dryRunAnswer(exchange, drawn);
  const { made, receipt } = drawn;
  recordReceipt(summary, receipt);
  summary.firstByteMs = clock.now() - startedAtMs;
  const response = whole(made, receipt.costPicos);
  return { ...response, headers: { ...response.headers, ...balanceHeaders(receipt.balancePicos) } };
};
