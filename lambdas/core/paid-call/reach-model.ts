import type { Wire } from '../catalog/providers.ts';
import type { Model } from '../catalog/schema.ts';
import type { CircuitKey } from '../circuit/circuit.ts';
import { barredError } from './barred.ts';
import { unavailable } from './choose-model.ts';
import { chooseUpstream, type Route } from './choose-upstream.ts';
import type { Caller, PaidCallPorts } from './ports.ts';

interface ReachPorts<SpokenWire> extends Pick<PaidCallPorts, 'catalog' | 'reachable' | 'circuits'> {
  readonly wires: ReadonlyMap<Wire, SpokenWire>;
}

/**
 * The way to a model without alternatives: 503 where there is none, or where its circuit is open (FALL-5, AUD-2). `check` throws the
 * 400 of what the vendor's protocol has no place for, which comes before the circuit (GEN-8).
 */
export const reachModel = <SpokenWire>(
  ports: ReachPorts<SpokenWire>,
  { accountId }: Caller,
  model: Model,
  check?: (wire: SpokenWire) => void,
): Route<SpokenWire> & { readonly circuit: CircuitKey } => {
  const route = chooseUpstream(ports, model);
  check?.(route.wire);
  if (!ports.reachable(route.provider)) throw unavailable(model);
  const circuit = { providerId: route.provider.id, modelId: model.id };
  const barred = ports.circuits.look(circuit, accountId);
  if (barred) throw barredError(model, barred);
  return { ...route, circuit };
};
