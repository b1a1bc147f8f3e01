import * as z from 'zod';
import { type RotationPorts, rotateKey } from '../../core/accounts/issue-key.ts';
import { toMasked } from '../../core/accounts/keys.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { parseWith } from '../parse.ts';
import type { AccountIdOf } from './account-of-chat.ts';

export interface RotateKeyPorts extends RotationPorts {
  readonly accountIdOf: AccountIdOf;
}

const keyIdMessage = 'must be the id of the key that is to be replaced, as the account shows it';

export const rotationBody = z.strictObject({ key_id: z.string(keyIdMessage).regex(/^[0-9a-f]{16}$/, keyIdMessage) });

const UNCERTAIN = 'The key may be replaced or not. Read the account again and replace the key that it shows then.';

/** POST /app/api/key (KEY-2): the answer is the one place where the new key is ever told. */
export const createRotateKey =
  (ports: RotateKeyPorts): RouteHandler =>
  async (exchange) => {
    const accountId = await ports.accountIdOf(exchange);
    const { key_id: keyId } = parseWith(rotationBody, exchange.body?.json);
    const { apiKey, id, label } = await orUnavailable(rotateKey(ports, { accountId, keyId }), UNCERTAIN);
    return json(200, { key: apiKey, id, masked: toMasked(label) });
  };
