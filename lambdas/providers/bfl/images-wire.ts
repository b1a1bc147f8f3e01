import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { ChosenSize } from '../../core/images/choose-size.ts';
import type { Drawing, ImageAsk, ImageCall, ImageReference, ImageWire } from '../../core/images/image-wire.ts';
import type { JsonObject } from '../../core/json.ts';
import { readJson } from '../read-json.ts';
import { unreadable } from '../refusals.ts';
import { createResultDownload, type ResultDownload } from '../result-download.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { toBflError } from './errors.ts';
import { growingWait, type PollWait, pollImage, toPollUrl } from './poll.ts';

interface BflOptions extends WireOptions {
  readonly download?: ResultDownload;
  readonly pollMs?: PollWait;
}

/** Whatever the vendor has begun must not count as refused. */
const created: ReadonlySet<number> = new Set([200, 201, 202]);

/**
 * The vendor's jobs: one paid creation, then free looks at the address it names.
 * https://docs.bfl.ai/api-reference/models/generate-or-edit-an-image-with-flux2-%5Bmax%5D.md
 */
export const createBflWire = (options: BflOptions): ImageWire => {
  const { download = createResultDownload(), pollMs = growingWait } = options;
  return {
    check: refuseUnknownSize,
    draw: async (call): Promise<Drawing> => {
      const { provider, upstream, signal } = call;
      const { baseUrl } = options.access(provider.id);
      const { response, told } = await callVendor(options, {
        provider,
        path: `/v1/${upstream.model}`,
        body: toBflRequest(call),
        streamed: false,
        accepts: (status) => created.has(status),
        signal,
        refuse: toBflError,
      });
      const job = creation.safeParse(await readJson(response)).data;
      if (!job) throw unreadable();
      const pollUrl = toPollUrl(job.polling_url, provider, baseUrl);
      if (!pollUrl) throw untrusted();
      const url = await pollImage(options, { provider, pollUrl, told, signal }, pollMs);
      return {
        images: [{ read: () => download({ url, baseUrl, signal }) }],
        usage: undefined,
        milliMegapixels: toMilliMegapixels(job),
      };
    },
  };
};

/** Sizes are pixels here, or left to the vendor. */
const refuseUnknownSize = ({ size }: ImageAsk): void => {
  if (size.kind !== 'tier') return;
  throw new GatewayError('invalid_size', `size: "${size.tier}" is no size of this model. Give it as "1024x1024".`, {
    param: 'size',
  });
};

const toBflRequest = ({ prompt, size, references, extras }: ImageCall): JsonObject => ({
  prompt,
  ...toEdges(size),
  ...Object.fromEntries(references.map((reference, index) => [fieldAt(index), toInputImage(reference)])),
  ...extras,
});

const toEdges = (size: ChosenSize): JsonObject =>
  size.kind === 'pixels' ? { width: size.width, height: size.height } : {};

const fieldAt = (index: number): string => (index === 0 ? 'input_image' : `input_image_${index + 1}`);

/** A URL, or base64 without anything before it: https://github.com/black-forest-labs/skills/blob/main/skills/bfl-api/references/endpoints.md */
const toInputImage = (reference: ImageReference): string =>
  reference.kind === 'url' ? reference.url : Buffer.from(reference.file.bytes).toString('base64');

const megapixels = z.number().nonnegative().optional().catch(undefined);

/** What it costs is told as well, in the vendor's own money; it is not what a client pays. */
const creation = z.object({ polling_url: z.string(), input_mp: megapixels, output_mp: megapixels });

const toMilliMegapixels = ({ input_mp: reference, output_mp: output }: z.infer<typeof creation>) =>
  reference === undefined || output === undefined
    ? undefined
    : { output: toMilli(output), reference: toMilli(reference) };

/** A millionth of the unit is nothing but the way a machine writes 1.1. */
const toMilli = (count: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(Math.round(count * 1_000_000_000) / 1_000_000));

const untrusted = (): GatewayError =>
  new GatewayError('upstream_error', 'The model named an address that is not its own. Nothing was charged.');
