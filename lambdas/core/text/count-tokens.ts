import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { Provider, TextModel, Upstream } from '../catalog/schema.ts';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { JsonObject } from '../json.ts';
import { chooseModel, unavailable } from '../paid-call/route-model.ts';
import type { TextProtocol } from './conversation.ts';

export interface CountCall {
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** In the client's protocol, valid; a model it names is not yet the vendor's. */
  readonly body: JsonObject;
  /** Headers of the provider's request, in addition to those of its catalog entry. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Its reason is the GatewayError to end with. */
  readonly signal: AbortSignal;
}

export interface CountDependencies<Counted> {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly reachable: (provider: Provider) => boolean;
  /** Asks the vendor. Throws GatewayError. */
  readonly count: (call: CountCall) => Promise<Counted>;
}

export interface CountParams {
  readonly modelId: string;
  readonly protocol: TextProtocol;
  /** Only a vendor of the same protocol can be asked. */
  readonly wire: Wire;
  readonly headers?: CountCall['headers'];
  /** Checks the request against a model's entry. Throws GatewayError naming the field. */
  validateFor(model: TextModel): JsonObject;
}

const DEADLINE_MS = 60_000;

/** Asks the vendor how long a prompt is. Free (BILL-17): nothing is held and no balance is looked at. */
export const countTokens = async <Counted>(
  { catalog, clock, reachable, count }: CountDependencies<Counted>,
  { modelId, protocol, wire, headers, validateFor }: CountParams,
): Promise<Counted> => {
  const model = chooseModel(catalog, { modelId, protocol, kind: 'text', nowMs: clock.now() });
  const body = validateFor(model);
  const upstream = model.upstreams.find((candidate) => candidate.enabled && candidate.wire === wire);
  const provider = upstream && catalog.provider(upstream.provider);
  if (!upstream || !provider?.enabled || !reachable(provider)) throw unavailable(model);
  const controller = new AbortController();
  const cancel = clock.after(DEADLINE_MS, () =>
    controller.abort(
      new GatewayError(
        'upstream_timeout',
        `The provider did not count the tokens within ${DEADLINE_MS / 1_000} s. Retry the request.`,
      ),
    ),
  );
  try {
    return await count({ upstream, provider, body, headers, signal: controller.signal });
  } finally {
    cancel();
  }
};
