import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { fetchState, wordsOf } from './asking.ts';
import { askForKey, BotKey } from './bot-key.tsx';
import { Chat } from './chat.tsx';
import { Connection } from './connection.tsx';
import { LedgerPane } from './ledger-pane.tsx';
import { requestIdOf } from './ledger-rows.ts';
import { Playground } from './playground.tsx';
import { useGateway } from './use-gateway.ts';
import { Vendors } from './vendors.tsx';
import { WebhookInbox } from './webhook-inbox.tsx';
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
  const [key, setKey] = useState(state.local_key.kind === 'current' ? state.local_key.value : '');
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
  const balanceAfter = (request: string | undefined): string | undefined =>
    gateway.ledger.rows.find(({ id, state }) => requestIdOf(id) === request && state !== 'held')?.balance_usd;
  const { keyCheck, botKey, maskedBotKey, botKeyCheck } = gateway;
  const shownBotKey = botKey ?? maskedBotKey;
  const botKeys = useRef(new Set<string>());
  useEffect(() => {
    if (botKey === undefined) return;
    // A key can be replaced before its check ends.
    botKeys.current.add(botKey);
    if (botKeyCheck?.kind !== 'works') return;
    // A replaced key of the bot no longer works, and an empty field gets the first key that does.
    setKey((known) => (known === '' || botKeys.current.has(known) ? botKey : known));
  }, [botKey, botKeyCheck]);
  const [localKey, setLocalKey] = useState(state.local_key);
  const isDead = keyCheck?.kind === 'rejected' && localKey.kind === 'current' && localKey.value === key;
  useEffect(() => {
    if (isDead) fetchState('en').then((fresh) => setLocalKey(fresh.local_key), console.warn);
  }, [isDead]);
  return (
    <>
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: a header of the page is a landmark */}
      <header class="top" aria-label="Local gateway">
        <h1>Model gateway</h1>
        <span class={gateway.isConnected ? 'live' : 'live off'} role="status">
          {gateway.isConnected ? 'live' : 'offline'}
        </span>
        <nav>
          <a href="/api-reference">API reference</a>
          <a href="/api-reference/clients">Clients</a>
        </nav>
        <Connection
          origin={location.origin}
          value={key}
          localKey={localKey}
          check={keyCheck}
          onChange={setKey}
          onAskBot={state.messenger && (() => void askForKey().catch(console.warn))}
        />
      </header>
      <main aria-label="Local gateway">
        <div class="column">
          <Playground
            state={state}
            vendors={gateway.vendors}
            apiKey={key}
            onRequest={setRequestId}
            balanceAfter={balanceAfter}
          />
          <Vendors vendors={gateway.vendors} />
        </div>
        <LedgerPane ledger={gateway.ledger} account={account} onAccount={setAccount} requestId={requestId} />
        <Chat messenger={state.messenger} messages={gateway.messages} onTopUp={openTopUp}>
          {shownBotKey !== undefined && (
            <BotKey
              apiKey={shownBotKey}
              isMasked={botKey === undefined}
              check={botKeyCheck}
              onUse={botKey === key ? undefined : setKey}
            />
          )}
        </Chat>
        <WebhookInbox webhooks={state.webhooks} apiKey={key} gateway={gateway} />
      </main>
    </>
  );
};
