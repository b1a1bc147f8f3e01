import type { KeyLabel } from '../../core/accounts/api-key.ts';

/** As much of a key as may be shown: `sk-service-AbCd…wxyz`. */
export const toMasked = ({ prefix, lastFour }: KeyLabel): string => `${prefix}…${lastFour}`;
