import type { PageEvents } from './wire.ts';

type Listeners = { readonly [Name in keyof PageEvents]: (data: PageEvents[Name]) => void };

/** What happens in the gateway, until the returned function is called. The browser connects again by itself. */
export const followEvents = (listeners: Listeners, setConnected: (connected: boolean) => void): (() => void) => {
  const source = new EventSource('/local/events');
  source.onopen = () => setConnected(true);
  source.onerror = () => setConnected(false);
  source.addEventListener('ledger', ({ data }) => listeners.ledger(JSON.parse(data)));
  source.addEventListener('request', ({ data }) => listeners.request(JSON.parse(data)));
  source.addEventListener('message', ({ data }) => listeners.message(JSON.parse(data)));
  source.addEventListener('vendors', ({ data }) => listeners.vendors(JSON.parse(data)));
  return () => source.close();
};
