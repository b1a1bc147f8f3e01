import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { Provider, TextModel, Upstream } from '../catalog/schema.ts';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { JsonObject } from '../json.ts';
import { type AllowedModels, chooseModel, unavailable } from '../paid-call/route-model.ts';
import type { TextProtocol } from './conversation.ts';

export interface CountCall {
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** Valid body in the client's protocol. Its model id is not yet replaced by the provider's. */
  readonly body: JsonObject;
  /** Headers of the provider's request, in addition to those of its catalog entry. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Its reason is the GatewayError for the client. */
  readonly signal: AbortSignal;
}

export interface CountDependencies<Counted> {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly reachable: (provider: Provider) => boolean;
  /** Sends the count request to the provider. Throws GatewayError. */
  readonly count: (call: CountCall) => Promise<Counted>;
}

export interface CountParams {
  readonly modelId: string;
  readonly allowed: AllowedModels;
  readonly protocol: TextProtocol;
  /** Only a provider with the same protocol can count. */
  readonly wire: Wire;
  readonly headers?: CountCall['headers'];
  /** Checks the request against the catalog entry of a model. Throws a GatewayError that names the field. */
  validateFor(model: TextModel): JsonObject;
}

const DEADLINE_MS = 60_000;

/** Returns the provider's count of a prompt. Free (BILL-17): no hold is placed and the balance is not checked. */
export const countTokens = async <Counted>(
  { catalog, clock, reachable, count }: CountDependencies<Counted>,
  { modelId, allowed, protocol, wire, headers, validateFor }: CountParams,
): Promise<Counted> => {
  const model = chooseModel(catalog, { modelId, protocol, kind: 'text', nowMs: clock.now(), allowed });
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
