import type { Wire } from '../catalog/providers.ts';
import type { Model, Provider, Upstream } from '../catalog/schema.ts';
import { unavailable } from './choose-model.ts';
import type { PaidCallPorts } from './ports.ts';

export interface Route<SpokenWire> {
  readonly upstream: Upstream;
  readonly provider: Provider;
  readonly wire: SpokenWire;
}

/** What an upstream's condition can be about. */
export interface RouteWish {
  readonly usesTools: boolean;
  readonly effort: string | undefined;
}

/** The first upstream whose condition fits, if its wire is spoken and its provider is on; else 503 without Retry-After (ERR-2). */
export const chooseUpstream = <SpokenWire>(
  { catalog, wires }: Pick<PaidCallPorts, 'catalog'> & { readonly wires: ReadonlyMap<Wire, SpokenWire> },
  model: Model,
  wish: RouteWish = { usesTools: false, effort: undefined },
): Route<SpokenWire> => {
  const upstream = upstreamFor(model, wish);
  const provider = upstream && catalog.provider(upstream.provider);
  const wire = upstream && wires.get(upstream.wire);
  if (!upstream || !wire || !provider?.enabled) throw unavailable(model);
  return { upstream, provider, wire };
};

/** Undefined when none that fits is enabled. */
export const upstreamFor = (model: Model, wish: RouteWish): Upstream | undefined =>
  model.upstreams.find((candidate) => candidate.enabled && fits(candidate, wish));

const fits = ({ when }: Upstream, { usesTools, effort }: RouteWish): boolean =>
  when !== 'tools_unless_effort_none' || (usesTools && effort !== 'none');
