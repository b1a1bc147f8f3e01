import type { Model } from '../catalog/schema.ts';
import type { Barred } from '../circuit/circuit.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { unavailable } from './choose-model.ts';

/** FALL-5, BILL-10: why a model that the catalog has is not called. */
export const barredError = (model: Model, barred: Barred): GatewayError => {
  if (barred.kind === 'quarantined') return unavailable(model);
  return new GatewayError(
    'service_unavailable',
    `"${model.id}" fails at the moment and is not called for ${barred.retryAfterSeconds} s. Try again then, or choose another model.`,
    { param: 'model', retryAfterSeconds: barred.retryAfterSeconds },
  );
};
