import type { Wire } from '../catalog/providers.ts';
import type { ImageModel } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { upstreamDeadline } from '../paid-call/deadline.ts';
import type { Caller, PaidCallPorts } from '../paid-call/dependencies.ts';
import type { DryRun } from '../paid-call/preflight.ts';
import { refuseAboveBudget } from '../paid-call/preflight.ts';
import { chooseModel, reachModel } from '../paid-call/route-model.ts';
import type { Receipt } from '../paid-call/settle.ts';
import { type Keyed, paidAnswer, refuseManyDrains } from '../paid-call/with-paid-call.ts';
import type { TokenUsage } from '../pricing/charge.ts';
import { deliverImages, type MadeImage } from './deliver-images.ts';
import { deliveredUsage } from './delivered-share.ts';
import { priceImages } from './image-price.ts';
import type { Dimensions, Drawing, ImageAsk, ImageWire } from './image-wire.ts';
import type { MediaPorts } from './media-link.ts';

export interface ImagePorts extends PaidCallPorts, MediaPorts {
  readonly wires: ReadonlyMap<Wire, ImageWire>;
  /** Undefined when the bytes are no whole image. */
  readonly measure: (bytes: Uint8Array) => Dimensions | undefined;
}

/** What a client asked for before a model was looked up. */
export interface ImageOrder {
  readonly protocol: 'images_generations' | 'images_edits';
  readonly modelId: string;
  readonly format: 'url' | 'b64_json';
  /** The client's own name for its end user (CHAT-15). */
  readonly endUser: string | undefined;
  /** Only what it would cost is asked (BILL-16). */
  readonly dryRun: boolean;
  /** Checks the request against a model's entry. Throws GatewayError naming the field. */
  prepare(model: ImageModel): ImageAsk;
}

/** What is answered. `usage` is what was charged by, undefined where the vendor counts no tokens. */
export interface MadeImages {
  readonly model: ImageModel;
  readonly images: readonly MadeImage[];
  readonly usage: TokenUsage | undefined;
}

interface Answer extends MadeImages {
  readonly drawing: Drawing;
}

export type DrawnImages = DryRun | { readonly kind: 'answer'; readonly made: MadeImages; readonly receipt: Receipt };

const ADVICE = 'ask for fewer or smaller images';

/** Validate, hold, draw, make the links, settle (BILL-1): an image the client could not get is not charged (IMG-7). */
export const drawImages = async (
  ports: ImagePorts,
  caller: Caller,
  order: ImageOrder,
  keyed?: Keyed<MadeImages>,
): Promise<DrawnImages> => {
  const { protocol, modelId, format, endUser, dryRun } = order;
  const nowMs = ports.ledger.clock.now();
  const model = chooseModel(ports.catalog, { modelId, protocol, kind: 'image', nowMs });
  const ask = order.prepare(model);
  const money = priceImages(ports.catalog.priceRow(model, nowMs), model, ask);
  const { upstream, provider, wire, circuit } = reachModel(ports, caller, model, (spoken) =>
    spoken.check?.(ask, model),
  );
  refuseAboveBudget(money.holdPicos, 'n', ADVICE);
  if (dryRun) {
    refuseManyDrains(ports, caller.accountId);
    return { kind: 'dry_run', model, holdPicos: money.holdPicos, outputTokensMax: undefined, prices: money.prices };
  }
  const deadline = upstreamDeadline(ports, caller, model);
  const paidOrder = {
    model,
    circuit,
    deadline,
    hold: { amountPicos: money.holdPicos, expiresAtMs: deadline.expiresAtMs, remedy: `Top up or ${ADVICE}.` },
    endUser,
    chargeFor: ({ images, drawing }: Answer) =>
      money.chargeFor({
        delivered: images.length,
        made: drawing.images.length,
        usage: drawing.usage,
        milliMegapixels: drawing.milliMegapixels,
        pixels: images.map(({ width, height }) => width * height),
      }),
    expectsUsage: money.expectsUsage,
    keyed,
  };
  const paid = await paidAnswer<Answer>(ports, caller, paidOrder, async (signal) => {
    const drawing = await wire.draw({
      ...ask,
      model,
      provider,
      upstream,
      signal,
      outputTokensMax: money.outputTokensMax,
    });
    if (drawing.images.length === 0) throw nothingDrawn();
    const images = await deliverImages(ports, drawing.images.slice(0, ask.n), format);
    const delivery = { delivered: images.length, made: drawing.images.length };
    return { model, images, usage: drawing.usage && deliveredUsage(drawing.usage, delivery), drawing };
  });
  return { kind: 'answer', made: paid.answer, receipt: paid.receipt };
};

const nothingDrawn = (): GatewayError =>
  new GatewayError('upstream_error', 'The model answered without an image. Nothing was charged.');
