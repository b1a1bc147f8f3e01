import { useEffect, useState } from 'preact/hooks';
import { fetchState } from './asking.ts';
import { checkKey, type KeyCheck } from './check-key.ts';
import { emptyLedger, type Ledger, withAccount, withEvent, withRequest } from './ledger-rows.ts';
import { paceEvents } from './pace-events.ts';
import type { ChatMessage, LocalState, PageEvents, RequestLine, VendorState } from './wire.ts';

type Listeners = { readonly [Name in keyof PageEvents]: (data: PageEvents[Name]) => void };

/** Follows the gateway's events until the returned function is called. The browser reconnects automatically. */
export const followEvents = (listeners: Listeners, setConnected: (connected: boolean) => void): (() => void) => {
  const source = new EventSource('/local/events');
  source.onopen = () => setConnected(true);
  source.onerror = () => setConnected(false);
  source.addEventListener('ledger', ({ data }) => listeners.ledger(JSON.parse(data)));
  source.addEventListener('request', ({ data }) => listeners.request(JSON.parse(data)));
  source.addEventListener('message', ({ data }) => listeners.message(JSON.parse(data)));
  source.addEventListener('vendors', ({ data }) => listeners.vendors(JSON.parse(data)));
  source.addEventListener('webhook', ({ data }) => listeners.webhook(JSON.parse(data)));
  source.addEventListener('bot_key', ({ data }) => listeners.bot_key(JSON.parse(data)));
  return () => source.close();
};

export interface Gateway {
  readonly isConnected: boolean;
  readonly ledger: Ledger;
  readonly messages: readonly ChatMessage[];
  readonly vendors: readonly VendorState[];
  /** Last change of the webhook inbox. A new object for each change. */
  readonly inboxChange: PageEvents['webhook'] | undefined;
  readonly keyCheck: KeyCheck | undefined;
  /** Latest API key that the bot or the page has issued to the messenger's user. */
  readonly botKey: string | undefined;
  /** Masked API key of the messenger's user. Used if `botKey` is undefined. */
  readonly maskedBotKey: string | undefined;
  readonly botKeyCheck: KeyCheck | undefined;
}

/** Returns the gateway's state while the page is open. Calls `onAccount` with the account of the key. */
export const useGateway = (state: LocalState, key: string, onAccount: (id: string) => void): Gateway => {
  const [isConnected, setConnected] = useState(false);
  const [ledger, setLedger] = useState(() => state.accounts.reduce(withAccount, emptyLedger));
  const [messages, setMessages] = useState(state.messenger?.messages ?? []);
  const [vendors, setVendors] = useState(state.vendors);
  const [inboxChange, setInboxChange] = useState<PageEvents['webhook']>();
  const [botKey, setBotKey] = useState(state.messenger?.key);
  const [maskedBotKey, setMaskedBotKey] = useState(state.messenger?.masked_key);
  useEffect(() => {
    const listeners = {
      ledger: paceEvents((event) => setLedger((known) => withEvent(known, event))),
      request: (line: Parameters<typeof withRequest>[1]) => setLedger((known) => withRequest(known, line)),
      message: (message: ChatMessage) => setMessages((known) => withMessage(known, message)),
      vendors: setVendors,
      webhook: setInboxChange,
      bot_key: setBotKey,
    };
    let isFirst = true;
    const setPresence = (isThere: boolean): void => {
      setConnected(isThere);
      if (isThere && !isFirst) fetchState('en').then(begin, console.warn);
      if (isThere) isFirst = false;
    };
    // A new run of the program does not know the messages and faults of the previous one.
    const begin = (fresh: LocalState): void => {
      setMessages(fresh.messenger?.messages ?? []);
      setVendors(fresh.vendors);
      setLedger((known) => fresh.accounts.reduce(withAccount, known));
      setMaskedBotKey(fresh.messenger?.masked_key);
      setBotKey((known) => fresh.messenger?.key ?? known);
    };
    return followEvents(listeners, setPresence);
  }, []);
  const changedAt = ledger.requests.find(canChangeKeys)?.at;
  useEffect(() => {
    if (changedAt === undefined || botKey !== undefined) return;
    fetchState('en').then(({ messenger }) => setMaskedBotKey(messenger?.masked_key), console.warn);
  }, [changedAt, botKey]);
  const keyCheck = useKeyCheck(key, changedAt);
  const botKeyCheck = useKeyCheck(botKey ?? '', changedAt);
  useEffect(() => {
    if (keyCheck?.kind !== 'works') return;
    const { numbers } = keyCheck;
    setLedger((known) => withAccount(known, numbers));
    onAccount(numbers.account);
  }, [keyCheck, onAccount]);
  return { isConnected, ledger, messages, vendors, inboxChange, keyCheck, botKey, maskedBotKey, botKeyCheck };
};

/** Whether a request may have replaced or revoked a key, or shows that another process has. */
const canChangeKeys = ({ method, path, status }: RequestLine): boolean =>
  path !== '/api/account' && (status === 401 || (method !== 'GET' && /^\/(?:app\/)?api\/keys?(?:\/|$)/.test(path)));

/** Checks the key when it changes, and when another request may have changed whether it works. */
const useKeyCheck = (key: string, changedAt: number | undefined): KeyCheck | undefined => {
  const [check, setCheck] = useState<KeyCheck>();
  useEffect(() => {
    let isCurrent = true;
    const show = (result: KeyCheck): void => {
      if (isCurrent) setCheck(result);
    };
    checkKey(key).then(show, console.warn);
    return () => {
      isCurrent = false;
    };
  }, [key, changedAt]);
  return check;
};

/** A changed message keeps its place. */
const withMessage = (messages: readonly ChatMessage[], message: ChatMessage): readonly ChatMessage[] =>
  messages.some(({ id }) => id === message.id)
    ? messages.map((known) => (known.id === message.id ? message : known))
    : [...messages, message];
