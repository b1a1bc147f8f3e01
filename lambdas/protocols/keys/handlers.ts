import {
  createAccountKey,
  deleteAccountKey,
  editAccountKey,
  type KeyCaller,
} from '../../core/accounts/account-keys.ts';
import {
  type KeyListDependencies,
  type KeyView,
  listAccountKeys,
  readAccountKey,
  viewCreatedKey,
} from '../../core/accounts/key-list.ts';
import { admissionOf, type Exchange, type GatewayResponse, json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { noKeys, readPaidHeaders } from '../paid-request.ts';
import { toKeyObject } from './key-object.ts';
import { readKeyChange, readNewKey, readVersion } from './key-request.ts';

/** Account of a request, and the one who manages its API keys. */
export type KeyCallerOf = (exchange: Exchange) => KeyCaller | Promise<KeyCaller>;

const keyOf: KeyCallerOf = (exchange) => {
  const { accountId, key } = admissionOf(exchange);
  return { accountId, actor: { keyId: key.keyId } };
};

/** Returns the owner of the account, who has opened the mini app (KEY-8). */
export const createOwnerOf =
  (accountIdOf: (exchange: Exchange) => Promise<string>): KeyCallerOf =>
  async (exchange) => ({ accountId: await accountIdOf(exchange), actor: 'owner' });

const idIn = ({ route }: Exchange): string => route?.params.id ?? '';

const CREATION_UNCERTAIN =
  'The API key may have been created. List the keys, and delete the new one before you create another.';
const CHANGE_UNCERTAIN = 'The API key may have been changed. Read it before you repeat the change.';

/** Responses can hold a new API key, so that no cache may keep them. */
const NO_STORE = { 'cache-control': 'no-store' } as const;

const sendKey = (view: KeyView, secret: { readonly key?: string } = {}): GatewayResponse =>
  json(200, { ...toKeyObject(view), ...secret }, { ...NO_STORE, etag: `"${view.version}"` });

const readKey = (deps: KeyListDependencies, caller: KeyCaller, keyId: string): Promise<KeyView> =>
  orUnavailable(readAccountKey(deps, caller, keyId));

/** GET /api/keys and GET /app/api/keys (KEY-8). */
export const createListKeys =
  (deps: KeyListDependencies, callerOf: KeyCallerOf = keyOf): RouteHandler =>
  async (exchange) => {
    const views = await orUnavailable(listAccountKeys(deps, await callerOf(exchange)));
    return json(200, { object: 'list', data: views.map(toKeyObject), has_more: false }, NO_STORE);
  };

/** GET /api/keys/{id} and GET /app/api/keys/{id} (KEY-8). */
export const createGetKey =
  (deps: KeyListDependencies, callerOf: KeyCallerOf = keyOf): RouteHandler =>
  async (exchange) =>
    sendKey(await readKey(deps, await callerOf(exchange), idIn(exchange)));

/** POST /api/keys and POST /app/api/keys (KEY-8): only this response shows the new API key. */
export const createCreateKey =
  (deps: KeyListDependencies, callerOf: KeyCallerOf = keyOf): RouteHandler =>
  async (exchange) => {
    const caller = await callerOf(exchange);
    readPaidHeaders(exchange.event.headers, noKeys, false);
    const wanted = readNewKey(exchange.body?.json);
    const created = await orUnavailable(createAccountKey(deps, caller, wanted), CREATION_UNCERTAIN);
    return sendKey(viewCreatedKey(deps, created), { key: created.apiKey });
  };

/** PATCH /api/keys/{id} and PATCH /app/api/keys/{id} (KEY-8). */
export const createEditKey =
  (deps: KeyListDependencies, callerOf: KeyCallerOf = keyOf): RouteHandler =>
  async (exchange) => {
    const caller = await callerOf(exchange);
    const target = { keyId: idIn(exchange), version: readVersion(exchange.event.headers) };
    const wanted = readKeyChange(exchange.body?.json);
    await orUnavailable(editAccountKey(deps, caller, target, wanted), CHANGE_UNCERTAIN);
    return sendKey(await readKey(deps, caller, target.keyId));
  };

/** DELETE /api/keys/{id} and DELETE /app/api/keys/{id} (KEY-8): the API key is rejected from the next request on. */
export const createDeleteKey =
  (deps: KeyListDependencies, callerOf: KeyCallerOf = keyOf): RouteHandler =>
  async (exchange) => {
    const caller = await callerOf(exchange);
    const target = { keyId: idIn(exchange), version: readVersion(exchange.event.headers) };
    await orUnavailable(deleteAccountKey(deps, caller, target), CHANGE_UNCERTAIN);
    return json(200, { id: target.keyId, object: 'api_key.deleted', deleted: true }, NO_STORE);
  };
