import { type AccountNumbers, OWN_REQUEST } from './wire.ts';

/** Whether an API key works. `unfinished`: the text does not have the form of an API key. */
export type KeyCheck =
  | { readonly kind: 'works'; readonly numbers: AccountNumbers }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string }
  | { readonly kind: 'unfinished' };

/** Asks the gateway for the account of the API key. Throws an Error if the gateway does not respond. */
export const checkKey = async (key: string, origin = ''): Promise<KeyCheck> => {
  if (!/^sk-service-\w{49}$/.test(key)) return { kind: 'unfinished' };
  const response = await fetch(`${origin}/api/account`, {
    headers: { authorization: `Bearer ${key}`, ...OWN_REQUEST },
  });
  const body = await response.json();
  if (!response.ok) return { kind: 'rejected', code: body.error.code, message: body.error.message };
  const { id, balance_usd, available_usd, held_usd, open_holds } = body;
  return { kind: 'works', numbers: { account: id, balance_usd, available_usd, held_usd, open_holds } };
};
