import type { Wire } from '../catalog/providers.ts';
import type { ImageModel } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import type { StoredResponse } from '../idempotency/claim-store.ts';
import type { ClaimedRequest } from '../idempotency/claimed-execution.ts';
import { sniffImage } from '../image-type.ts';
import { type PlannedHold, requireFunds } from '../ledger/require-funds.ts';
import { type RequestMemory, unlimitedMemory } from '../limits/request-memory.ts';
import { allowanceUseOf, type UncollectedOf } from '../paid-call/call-report.ts';
import { type Deadline, upstreamDeadline } from '../paid-call/deadline.ts';
import { allowanceOf, type Caller, type PaidCallDependencies } from '../paid-call/dependencies.ts';
import { type DryRun, refuseAboveBudget } from '../paid-call/preflight.ts';
import { chooseModel, reachModel } from '../paid-call/route-model.ts';
import type { Receipt } from '../paid-call/settle.ts';
import { whole, withPaidCall } from '../paid-call/with-paid-call.ts';
import { billOf, type TokenUsage } from '../pricing/charge.ts';
import { retryUntilDefinite } from '../retry.ts';
import { type DrawnCounts, deliveredUsage, type ImageMoney, priceImages } from './image-price.ts';
import {
  type Dimensions,
  type Drawing,
  type DrawnImage,
  type FitImage,
  type FitTask,
  type ImageAsk,
  ImagesWithheld,
  type ImageWire,
} from './image-wire.ts';
import { linkImage, type MediaDependencies } from './media.ts';
import { askedSize } from './size-rules.ts';

export interface ImageDependencies extends PaidCallDependencies, MediaDependencies {
  readonly wires: ReadonlyMap<Wire, ImageWire>;
  /** Returns undefined if the bytes are not a complete image. */
  readonly measure: (bytes: Uint8Array) => Dimensions | undefined;
  readonly fitImage: FitImage;
}

/** Parameters of the client before the model is looked up. */
export interface ImageParams {
  readonly protocol: 'images_generations' | 'images_edits';
  readonly modelId: string;
  /** Undefined for the default of the model. */
  readonly format: 'url' | 'b64_json' | undefined;
  /** End user, as the client names them (CHAT-15). */
  readonly endUser: string | undefined;
  /** Whether the client requests only the cost (BILL-16). */
  readonly dryRun: boolean;
  /** Checks the request against the catalog entry of a model. Throws a GatewayError that names the field. */
  validateFor(model: ImageModel): ImageAsk;
  /**
   * Replaces URLs of the request by the images that the gateway fetches, before the hold. Undefined if there are none.
   * Throws `invalid_image_format` (CHAT-6), and `service_unavailable` without memory (GEN-14).
   */
  readonly gather?: ((ask: ImageAsk, memory: RequestMemory) => Promise<ImageAsk>) | undefined;
}

/** Result for the client. `usage` is the charged usage, undefined if the provider counts no tokens. */
export interface MadeImages {
  readonly model: ImageModel;
  readonly images: readonly MadeImage[];
  readonly usage: TokenUsage | undefined;
}

/** Response that is stored before the charge, for a request with an idempotency key. */
export interface KeyedImages {
  readonly claimed: ClaimedRequest;
  readonly toStored: (made: MadeImages, costPicos: bigint) => StoredResponse;
}

type DrawnImages = DryRun | { readonly kind: 'answer'; readonly made: MadeImages; readonly receipt: Receipt };

const ADVICE = 'request fewer or smaller images, or a lower quality';

/**
 * Validates, places a hold, generates the images, stores the links and settles (BILL-1). Images that cannot reach the
 * client are free (IMG-7).
 */
export const drawImages = async (
  deps: ImageDependencies,
  caller: Caller,
  order: ImageParams,
  idempotent?: KeyedImages,
): Promise<DrawnImages> => {
  const { protocol, modelId, endUser, dryRun } = order;
  const nowMs = deps.ledger.clock.now();
  const model = chooseModel(deps.catalog, { modelId, protocol, kind: 'image', nowMs, allowed: caller.models });
  const asked = order.validateFor(model);
  const format = order.format ?? model.image.responseFormatDefault;
  const money = priceImages(deps.catalog.priceRow(model, nowMs), model, asked);
  const present = order.gather ? withoutUrls(asked) : asked;
  const { upstream, provider, wire, circuit } = reachModel(deps, caller, model, (spoken) =>
    spoken.check?.(present, model),
  );
  refuseAboveBudget(money.holdPicos, 'n', ADVICE);
  if (dryRun) {
    return { kind: 'dry_run', model, holdPicos: money.holdPicos, outputTokensMax: undefined, prices: money.prices };
  }
  const planned = {
    amountPicos: money.holdPicos,
    allowancePicos: allowanceOf(deps, caller),
    remedy: `Top up or ${ADVICE}.`,
  };
  if (order.gather) await requireFundsFor(deps, caller, planned);
  const ask = order.gather ? await order.gather(asked, caller.openMemory?.('started') ?? unlimitedMemory) : asked;
  const deadline = upstreamDeadline(deps, caller, model);
  const hold = { ...planned, expiresAtMs: deadline.expiresAtMs };
  const first = { model, circuit, hold, deadline, uncollected: uncollectedImages(deadline, money) };
  const paid = await withPaidCall(deps, caller, { first, claimed: idempotent?.claimed }, async (signal) => {
    const drawing = await wire.draw({
      ...ask,
      model,
      provider,
      upstream,
      signal,
      outputTokensMax: money.outputTokensMax,
    });
    if (drawing.images.length === 0) throw nothingDrawn();
    const size = askedSize(ask.size);
    const images = await deliverImages(deps, drawing.images.slice(0, ask.n), { format, size, signal });
    const counts = toCounts(images, drawing);
    const made = { model, images, usage: drawing.usage && deliveredUsage(drawing.usage, counts) };
    return whole({
      answer: made,
      usage: made.usage,
      terms: { endUser, chargeFor: () => money.chargeFor(counts), expectsUsage: money.expectsUsage },
      toStored: idempotent && ((costPicos) => idempotent.toStored(made, costPicos)),
    });
  });
  return { kind: 'answer', made: paid.answer, receipt: paid.receipt };
};

const withoutUrls = (ask: ImageAsk): ImageAsk => ({
  ...ask,
  references: ask.references.filter(({ kind }) => kind === 'file'),
});

/** Throws the error of the hold before an image is fetched, unless the account is known to have a balance (GEN-8). */
const requireFundsFor = async (
  deps: ImageDependencies,
  { accountId, requestId, storeTime, cap }: Caller,
  planned: Pick<PlannedHold, 'amountPicos' | 'allowancePicos' | 'remedy'>,
): Promise<void> => {
  if (deps.funded?.has(accountId)) return;
  await requireFunds(deps.ledger, { ...planned, accountId, requestId, storeTime, cap });
};

/**
 * Estimates the cost of a call that ends without a charge (BILL-21): the bill by the provider's counts, or else the
 * hold. A client can provoke both the deadline and a response without an image.
 */
const uncollectedImages =
  (deadline: Pick<Deadline, 'hasCut'>, money: ImageMoney): UncollectedOf =>
  (thrown) => {
    const usesAllowance = allowanceUseOf(thrown, deadline, false);
    if (usesAllowance === 'no') return undefined;
    const counted =
      thrown instanceof ImagesWithheld && thrown.usage
        ? billOf(money.chargeFor(withheldCounts(thrown.usage)))
        : undefined;
    return { picos: counted ?? money.holdPicos, usesAllowance };
  };

const withheldCounts = (usage: TokenUsage): DrawnCounts => ({
  delivered: 1,
  made: 1,
  usage,
  milliMegapixels: undefined,
  pixels: [],
});

const toCounts = (images: readonly MadeImage[], drawing: Drawing): DrawnCounts => ({
  delivered: images.length,
  made: drawing.images.length,
  usage: drawing.usage,
  milliMegapixels: drawing.milliMegapixels,
  pixels: images.map(({ width, height, generated = { width, height } }) => generated.width * generated.height),
});

/** A prompt can cause it, so the circuit does not count it. */
const nothingDrawn = (): GatewayError =>
  new GatewayError('upstream_error', 'The model returned no image. Nothing was charged. Retry the request.', {
    ignoredByCircuit: true,
    usesAllowance: true,
  });

/** An image in the form that the client requested, with its actual dimensions. */
interface MadeImage extends Dimensions {
  /** Size at which the provider generated the image, if it is not the requested one (IMG-9). */
  readonly generated?: Dimensions | undefined;
  readonly content: { readonly kind: 'url'; readonly url: string } | { readonly kind: 'base64'; readonly text: string };
  readonly revisedPrompt: string | undefined;
}

interface DeliveryForm {
  readonly format: 'url' | 'b64_json';
  /** Size in pixels that the client requested; undefined if it requested none. */
  readonly size?: Dimensions | undefined;
  readonly signal: AbortSignal;
}

/** Returns the images that can be read, in the provider's order. If there is none, throws the error of the first. */
export const deliverImages = async (
  deps: ImageDependencies,
  images: readonly DrawnImage[],
  form: DeliveryForm,
): Promise<readonly MadeImage[]> => {
  const settled = await Promise.allSettled(images.map((image) => deliver(deps, image, form)));
  const made = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures: unknown[] = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const bug = failures.find((failure) => !(failure instanceof GatewayError));
  if (bug !== undefined || made.length === 0) throw bug ?? failures[0];
  return made;
};

const deliver = async (
  deps: ImageDependencies,
  { read, revisedPrompt }: DrawnImage,
  { format, ...wanted }: DeliveryForm,
): Promise<MadeImage> => {
  const original = await read();
  const mediaType = sniffImage(original);
  const dimensions = mediaType && deps.measure(original);
  if (!dimensions) throw noImage();
  const { bytes, ...about } = await fitted(deps, { bytes: original, mediaType, from: dimensions }, wanted);
  if (format === 'b64_json') {
    return { content: { kind: 'base64', text: Buffer.from(bytes).toString('base64') }, ...about, revisedPrompt };
  }
  try {
    // Retried, because the provider charges for the image in any case. If the reply of a write is lost, the retry
    // stores a second copy; the first copy has no link and is deleted after its retention.
    const url = await retryUntilDefinite(deps.ledger, () => linkImage(deps, deps.ledger.clock.now(), bytes, mediaType));
    return { content: { kind: 'url', url }, ...about, revisedPrompt };
  } catch (error) {
    throw error instanceof StoreError ? notStored(error) : error;
  }
};

/**
 * Returns the image at the requested size. An image that cannot be changed is returned as the provider generated it,
 * because the provider charges for it in any case (IMG-9).
 */
const fitted = async (
  { fitImage, measure }: ImageDependencies,
  image: Omit<FitTask, 'to'>,
  { size, signal }: Omit<DeliveryForm, 'format'>,
) => {
  const { bytes, from } = image;
  if (!size || isSame(size, from)) return { bytes, ...from };
  const exact = await fitImage({ ...image, to: size }, signal);
  const measured = exact && measure(exact);
  return exact && measured && isSame(measured, size)
    ? { bytes: exact, ...size, generated: from }
    : { bytes, ...from, generated: from };
};

const isSame = (one: Dimensions, other: Dimensions): boolean =>
  one.width === other.width && one.height === other.height;

const noImage = (): GatewayError =>
  new GatewayError('upstream_error', 'The model returned an invalid image. Nothing was charged. Retry the request.');

const notStored = (cause: StoreError): GatewayError =>
  new GatewayError('service_unavailable', 'The image could not be stored. Nothing was charged. Retry the request.', {
    cause,
  });
