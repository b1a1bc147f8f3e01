import type { Catalog } from '../catalog/catalog.ts';
import type { Model, Provider, TextModel, Upstream } from '../catalog/schema.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import type { TextPorts } from './text-ports.ts';
import type { TextProtocol, TextRequest } from './text-request.ts';
import type { TextWire } from './text-wire.ts';

type Protocol = Model['protocols'][number];

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

/** CAT-6 and GEN-11. */
export const chooseModel = (catalog: Catalog, modelId: string, protocol: TextProtocol, nowMs: number): TextModel => {
  const model = catalog.find(modelId, nowMs);
  if (!model) {
    throw new GatewayError('model_not_found', catalog.explainMissing(modelId, nowMs), { param: 'model' });
  }
  const protocols: readonly Protocol[] = model.protocols;
  if (!protocols.includes(protocol)) {
    const fitting = protocols.map((name) => endpoints[name]).join(' or ');
    throw invalidRequest('model', `model: "${model.id}" is not served here, but at ${fitting}.`);
  }
  if (model.kind !== 'text') throw unavailable(model);
  return model;
};

const unavailable = ({ id }: Model): GatewayError =>
  new GatewayError('model_unavailable', `"${id}" cannot be reached at present. Choose another model.`, {
    param: 'model',
  });

export interface Route {
  readonly upstream: Upstream;
  readonly provider: Provider;
  readonly wire: TextWire;
}

/** The first upstream whose condition fits, if its provider is on and its wire is spoken; else 503 without Retry-After (ERR-2). */
export const chooseUpstream = (
  { catalog, wires, reachable }: Pick<TextPorts, 'catalog' | 'wires' | 'reachable'>,
  model: TextModel,
  request: TextRequest,
): Route => {
  const routes = model.upstreams.filter(({ enabled }) => enabled);
  const upstream = routes.find((candidate) => fits(candidate, request));
  const reach = (candidate: Upstream | undefined): Route | undefined => {
    const provider = candidate && catalog.provider(candidate.provider);
    const wire = candidate && wires.get(candidate.wire);
    return candidate && wire && provider?.enabled && reachable(provider)
      ? { upstream: candidate, provider, wire }
      : undefined;
  };
  const route = reach(upstream);
  if (route) return route;
  const withoutReasoning = routes.find((candidate) => fits(candidate, { ...request, effort: 'none' }));
  if (reach(withoutReasoning) && model.reasoning?.accepted.includes('none')) throw onlyWithoutReasoning(model);
  throw unavailable(model);
};

const onlyWithoutReasoning = ({ id }: Model): GatewayError =>
  new GatewayError(
    'model_unavailable',
    `"${id}" takes tools at present only with reasoning_effort "none". Send that, or choose another model.`,
    { param: 'reasoning_effort' },
  );

const fits = ({ when }: Upstream, request: TextRequest): boolean =>
  when !== 'tools_unless_effort_none' || (request.usesTools && request.effort !== 'none');
