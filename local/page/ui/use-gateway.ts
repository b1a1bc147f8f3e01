import { useEffect, useState } from 'preact/hooks';
import { fetchState } from './asking.ts';
import { emptyLedger, type Ledger, withAccount, withEvent, withRequest } from './ledger-rows.ts';
import { paceEvents } from './pace-events.ts';
import type { AccountNumbers, ChatMessage, LocalState, PageEvents, VendorState } from './wire.ts';

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
  return () => source.close();
};

export interface Gateway {
  readonly isConnected: boolean;
  readonly ledger: Ledger;
  readonly messages: readonly ChatMessage[];
  readonly vendors: readonly VendorState[];
  /** Last change of the webhook inbox. A new object for each change. */
  readonly inboxChange: PageEvents['webhook'] | undefined;
}

/** Returns the gateway's state while the page is open. Calls `onAccount` with the account of the key. */
export const useGateway = (state: LocalState, key: string, onAccount: (id: string) => void): Gateway => {
  const [isConnected, setConnected] = useState(false);
  const [ledger, setLedger] = useState(emptyLedger);
  const [messages, setMessages] = useState(state.messenger?.messages ?? []);
  const [vendors, setVendors] = useState(state.vendors);
  const [inboxChange, setInboxChange] = useState<PageEvents['webhook']>();
  useEffect(() => {
    const listeners = {
      ledger: paceEvents((event) => setLedger((known) => withEvent(known, event))),
      request: (line: Parameters<typeof withRequest>[1]) => setLedger((known) => withRequest(known, line)),
      message: (message: ChatMessage) => setMessages((known) => withMessage(known, message)),
      vendors: setVendors,
      webhook: setInboxChange,
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
    };
    return followEvents(listeners, setPresence);
  }, []);
  useEffect(() => {
    const show = (numbers: AccountNumbers): void => {
      setLedger((known) => withAccount(known, numbers));
      onAccount(numbers.account);
    };
    fetchAccount(key).then((numbers) => numbers && show(numbers), console.warn);
  }, [key, onAccount]);
  return { isConnected, ledger, messages, vendors, inboxChange };
};

/** A changed message keeps its place. */
const withMessage = (messages: readonly ChatMessage[], message: ChatMessage): readonly ChatMessage[] =>
  messages.some(({ id }) => id === message.id)
    ? messages.map((known) => (known.id === message.id ? message : known))
    : [...messages, message];

/** Undefined for an invalid or incomplete key. */
const fetchAccount = async (key: string): Promise<AccountNumbers | undefined> => {
  if (!/^sk-service-\w{49}$/.test(key)) return undefined;
  const response = await fetch('/api/account', { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) return undefined;
  const { id, balance_usd, available_usd, held_usd, open_holds } = await response.json();
  return { account: id, balance_usd, available_usd, held_usd, open_holds };
};
