import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { fetchState, wordsOf } from './asking.ts';
import { Chat } from './chat.tsx';
import { KeyField } from './key-field.tsx';
import { LedgerPane } from './ledger-pane.tsx';
import { requestIdOf } from './ledger-rows.ts';
import { Playground } from './playground.tsx';
import { useGateway } from './use-gateway.ts';
import { Vendors } from './vendors.tsx';
import type { LocalState } from './wire.ts';

export const LocalPage = () => {
  const [state, setState] = useState<LocalState>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    fetchState('en').then(setState, (error: unknown) => setProblem(wordsOf(error)));
  }, []);
  if (state) return <Page state={state} />;
  return <p class="alone">{problem || 'Loading'}</p>;
};

/** Account that the link of the bot's `/topup` names. */
const linkedAccount = new URLSearchParams(location.search).get('topup') ?? undefined;

const Page = ({ state }: { state: LocalState }) => {
  const [key, setKey] = useState(state.key);
  const [requestId, setRequestId] = useState<string>();
  const [account, setAccount] = useState(linkedAccount);
  const isLinked = useRef(linkedAccount !== undefined);
  const showOwner = useCallback((id: string) => {
    if (!isLinked.current) setAccount(id);
    isLinked.current = false;
  }, []);
  const gateway = useGateway(state, key, showOwner);
  const openTopUp = (wanted: string): void => {
    setAccount(wanted);
    document.getElementById('top-up')?.focus();
  };
  const done = gateway.ledger.rows.find(({ id, state }) => requestIdOf(id) === requestId && state !== 'held');
  return (
    <>
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: a header of the page is a landmark */}
      <header class="top" aria-label="Local gateway">
        <h1>Model gateway</h1>
        <span class={gateway.isConnected ? 'live' : 'live off'} role="status">
          {gateway.isConnected ? 'live' : 'not connected'}
        </span>
        <KeyField value={key} own={state.key} onChange={setKey} />
        <nav>
          <a href="/api-reference">API reference</a>
          <a href="/api-reference/clients">Clients</a>
        </nav>
      </header>
      <main aria-label="Local gateway">
        <div class="column">
          <Playground
            state={state}
            vendors={gateway.vendors}
            apiKey={key}
            onRequest={setRequestId}
            balanceUsd={done?.balance_usd}
          />
          <Vendors vendors={gateway.vendors} />
        </div>
        <LedgerPane ledger={gateway.ledger} account={account} onAccount={setAccount} requestId={requestId} />
        <Chat messenger={state.messenger} messages={gateway.messages} onTopUp={openTopUp} />
      </main>
    </>
  );
};
