import type { Exchange } from './exchange.ts';

/** Nobody needs what the client sent any more. */
export const releaseRequest = (exchange: Exchange): void => {
  exchange.releaseBody();
  exchange.body = undefined;
  exchange.form = undefined;
};
