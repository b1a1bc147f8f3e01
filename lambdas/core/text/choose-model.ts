import type { Catalog } from '../catalog/catalog.ts';
import type { Provider, TextModel, Upstream } from '../catalog/schema.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import type { TextPorts } from './text-ports.ts';
import type { TextProtocol, TextRequest } from './text-request.ts';
import type { TextWire } from './text-wire.ts';

const endpoints: Record<TextProtocol, string> = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  generate_content: '/v1beta/models/{model}:generateContent',
};

/** CAT-6 and GEN-11. */
export const chooseModel = (catalog: Catalog, modelId: string, protocol: TextProtocol, nowMs: number): TextModel => {
  const model = catalog.find(modelId, nowMs);
  if (!model) {
    throw new GatewayError('model_not_found', catalog.explainMissing(modelId, nowMs), { param: 'model' });
  }
  if (model.kind === 'text' && model.protocols.includes(protocol)) return model;
  throw invalidRequest('model', `model: "${model.id}" is not served here. ${elsewhere(model)}`);
};

const elsewhere = (model: { readonly protocols: readonly string[] }): string => {
  const named = model.protocols.map(
    (protocol) =>
      Object.entries(endpoints).find(([name]) => name === protocol)?.[1] ?? `/v1/${protocol.replace('_', '/')}`,
  );
  return `Send it to ${named.join(' or ')}.`;
};

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
  const upstream = model.upstreams.find((candidate) => candidate.enabled && fits(candidate, request));
  const provider = upstream && catalog.provider(upstream.provider);
  const wire = upstream && wires.get(upstream.wire);
  if (!upstream || !wire || !provider?.enabled || !reachable(provider)) {
    throw new GatewayError('model_unavailable', `"${model.id}" cannot be reached at present. Choose another model.`, {
      param: 'model',
    });
  }
  return { upstream, provider, wire };
};

const fits = ({ when }: Upstream, request: TextRequest): boolean =>
  when !== 'tools_unless_effort_none' || (request.usesTools && request.effort !== 'none');
