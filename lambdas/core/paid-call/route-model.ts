import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { Model, ModelKind, Protocol, Provider, Upstream } from '../catalog/schema.ts';
import { textModelOf } from '../catalog/text-model.ts';
import type { CallRejection, CircuitId } from '../circuit/circuit.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import type { Caller, PaidCallDependencies } from './dependencies.ts';

const endpoints: Record<Protocol, string> = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  generate_content: '/v1beta/models/{model}:generateContent',
  images_generations: '/v1/images/generations',
  images_edits: '/v1/images/edits',
  videos: '/v1/videos',
  audio_transcriptions: '/v1/audio/transcriptions',
  audio_speech: '/v1/audio/speech',
  moderations: '/v1/moderations',
  embeddings: '/v1/embeddings',
};

type ModelOf<Kind extends ModelKind> = Extract<Model, { kind: Kind }>;

const isKind = <Kind extends ModelKind>(model: Model, kind: Kind): model is ModelOf<Kind> => model.kind === kind;

/** Returns an image model as a text model if a text endpoint calls it (GEN-11). */
const seenAs = (model: Model, kind: ModelKind): Model => (kind === 'text' && textModelOf(model)) || model;

interface ModelChoice<Kind extends ModelKind> {
  readonly modelId: string;
  readonly protocol: Protocol;
  readonly kind: Kind;
  readonly nowMs: number;
  readonly allowed: AllowedModels;
}

/** Ids of the catalog entries that the API key can call; undefined means all (KEY-8). */
export type AllowedModels = readonly string[] | undefined;

/** Throws 403 `model_not_allowed` if the API key cannot call the model (KEY-8). */
export const refuseOtherModels = ({ id }: Pick<Model, 'id'>, allowed: AllowedModels, param = 'model'): void => {
  if (allowed === undefined || allowed.includes(id)) return;
  const message = `${param}: this API key cannot call "${id}". Use a model that GET /v1/models lists, or another key.`;
  throw new GatewayError('model_not_allowed', message, { param });
};

/** Returns the model that the request names (CAT-6, GEN-11, KEY-8). */
export const chooseModel = <Kind extends ModelKind>(
  catalog: Catalog,
  { modelId, protocol, kind, nowMs, allowed }: ModelChoice<Kind>,
): ModelOf<Kind> => {
  const model = catalog.find(modelId, nowMs);
  if (!model) {
    throw new GatewayError('model_not_found', catalog.explainMissing(modelId, nowMs, protocol), { param: 'model' });
  }
  refuseOtherModels(model, allowed);
  const protocols: readonly Protocol[] = model.protocols;
  if (!protocols.includes(protocol)) {
    const fitting = protocols.map((name) => endpoints[name]).join(' or ');
    throw invalidRequest('model', `model: "${model.id}" is not available on this endpoint. Use ${fitting}.`);
  }
  const seen = seenAs(model, kind);
  if (!isKind(seen, kind)) throw unavailable(model);
  return seen;
};

export const unavailable = ({ id }: Model): GatewayError =>
  new GatewayError('model_unavailable', `"${id}" is not available at present. Use another model.`, {
    param: 'model',
  });

export interface Route<SpokenWire> {
  readonly upstream: Upstream;
  readonly provider: Provider;
  readonly wire: SpokenWire;
}

/** Properties of a request that the condition of an upstream can test. */
interface UpstreamRequirements {
  readonly usesTools: boolean;
  readonly effort: string | undefined;
}

/**
 * Returns the first upstream whose condition holds, if the gateway supports its wire and its provider is on. Otherwise
 * throws 503 without `Retry-After` (ERR-2).
 */
export const chooseUpstream = <SpokenWire>(
  { catalog, wires }: Pick<PaidCallDependencies, 'catalog'> & { readonly wires: ReadonlyMap<Wire, SpokenWire> },
  model: Model,
  wish: UpstreamRequirements = { usesTools: false, effort: undefined },
): Route<SpokenWire> => {
  const upstream = upstreamFor(model, wish);
  const provider = upstream && catalog.provider(upstream.provider);
  const wire = upstream && wires.get(upstream.wire);
  if (!upstream || !wire || !provider?.enabled) throw unavailable(model);
  return { upstream, provider, wire };
};

/** Returns undefined if no upstream with a matching condition is enabled. */
export const upstreamFor = (model: Model, wish: UpstreamRequirements): Upstream | undefined =>
  model.upstreams.find((candidate) => candidate.enabled && fits(candidate, wish));

const fits = ({ when }: Upstream, { usesTools, effort }: UpstreamRequirements): boolean =>
  when !== 'tools_unless_effort_none' || (usesTools && effort !== 'none');

interface ReachDependencies<SpokenWire> extends Pick<PaidCallDependencies, 'catalog' | 'reachable' | 'circuits'> {
  readonly wires: ReadonlyMap<Wire, SpokenWire>;
}

/**
 * Returns the route to a model that has no fallback model. Throws 503 if no upstream is available or the circuit is
 * open (FALL-5, AUD-2). `check` throws the 400 of a request that the provider's protocol cannot carry, before the
 * circuit is read (GEN-8).
 */
export const reachModel = <SpokenWire>(
  deps: ReachDependencies<SpokenWire>,
  { accountId }: Caller,
  model: Model,
  check?: (wire: SpokenWire) => void,
): Route<SpokenWire> & { readonly circuit: CircuitId } => {
  const route = chooseUpstream(deps, model);
  check?.(route.wire);
  if (!deps.reachable(route.provider)) throw unavailable(model);
  const circuit = { providerId: route.provider.id, modelId: model.id };
  const rejection = deps.circuits.peek(circuit, accountId);
  if (rejection) throw rejectionError(model, rejection);
  return { ...route, circuit };
};

/** Returns the error for a model of the catalog that cannot be called now (FALL-5, BILL-10). */
export const rejectionError = (model: Model, rejection: CallRejection): GatewayError => {
  if (rejection.kind === 'quarantined') return unavailable(model);
  return new GatewayError(
    'service_unavailable',
    `"${model.id}" is temporarily disabled after repeated failures. Retry in ${rejection.retryAfterSeconds} s or use another model.`,
    { param: 'model', retryAfterSeconds: rejection.retryAfterSeconds, upstreamFailed: true },
  );
};

/** Returns the error with the earlier retry. One without a retry ends the request, so it stays (FALL-6). */
export const sooner = (last: GatewayError, other: GatewayError): GatewayError =>
  (other.retryAfterSeconds ?? Infinity) < (last.retryAfterSeconds ?? 0) ? other : last;
