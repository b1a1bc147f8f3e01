import type { Wire } from '../../core/catalog/providers.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { ProviderAccess } from '../../providers/credential-choice.ts';
import type { WireOptions } from '../../providers/vendor-call.ts';
import type { VideoFunctionDependencies } from './dependencies.ts';

export const byName = <Implementation>(wires: Readonly<Partial<Record<Wire, Implementation>>>) =>
  new Map(Object.entries(wires) as [Wire, Implementation][]);

export const toWireOptions = (deps: VideoFunctionDependencies): WireOptions => ({
  http: deps.upstreamHttp,
  access: (providerId, credentialId) => accessOf(deps, providerId, credentialId),
  notice: (notice, provider) => deps.reporting.notice(notice, { provider }),
  now: () => deps.clock.now(),
  random: deps.random,
});

const accessOf = (
  { vendorAccess }: VideoFunctionDependencies,
  providerId: string,
  credentialId: string | undefined,
): ProviderAccess => {
  const access = vendorAccess(providerId, credentialId);
  if (!access) throw new GatewayError('model_unavailable', `The provider ${providerId} has no key. Set its key.`);
  return access;
};
