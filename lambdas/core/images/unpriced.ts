import type { ImageModel } from '../catalog/schema.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';

/** IMG-8: what has no price is refused, and never free. */
export const unpriced = ({ id }: ImageModel, param: 'size' | 'quality'): GatewayError => {
  const message = `${param}: "${id}" has no price for this ${param}. Choose another.`;
  return param === 'size' ? new GatewayError('invalid_size', message, { param }) : invalidRequest(param, message);
};
