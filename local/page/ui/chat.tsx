import { useEffect, useRef, useState } from 'preact/hooks';
import { fetchState, post, wordsOf } from './asking.ts';
import { ChatComposer } from './chat-composer.tsx';
import type { ChatLanguage } from './languages.ts';
import { MessageText } from './message-text.tsx';
import { MiniApp } from './mini-app.tsx';
import type { ChatButton, ChatMessage, MessengerState } from './wire.ts';

interface ChatMessageViewProps {
  readonly message: ChatMessage;
  readonly onPress: (button: ChatButton) => void;
  readonly onCommand: (text: string) => void;
}

const ChatMessageView = ({ message, onPress, onCommand }: ChatMessageViewProps) => (
  <li class={`message ${message.from}`}>
    <MessageText message={message} onCommand={onCommand} />
    {message.buttons.map((row) => (
      <div key={row.map(({ text }) => text).join()} class="buttons">
        {row.map((button) => (
          <button key={button.text} type="button" onClick={() => onPress(button)}>
            {button.text}
          </button>
        ))}
      </div>
    ))}
  </li>
);

interface ChatProps {
  readonly messenger: MessengerState | undefined;
  readonly messages: readonly ChatMessage[];
  readonly onTopUp: (account: string) => void;
}

/** The simulated messenger: one user's chat with the bot. */
export const Chat = ({ messenger, messages, onTopUp }: ChatProps) => {
  const [language, setLanguage] = useState<ChatLanguage>('en');
  const [appAddress, setAppAddress] = useState<string>();
  const [problem, setProblem] = useState('');
  const tell = (error: unknown): void => setProblem(wordsOf(error));
  const say = (text: string): void => {
    post('/local/say', { text, language }).then(() => setProblem(''), tell);
  };
  const openApp = (url: string): void => {
    addressOfApp(url, language).then(setAppAddress, tell);
  };
  const press = ({ kind, url }: ChatButton): void => {
    const account = kind === 'link' ? topUpAccountOf(url) : undefined;
    if (kind === 'app') openApp(url);
    else if (account === undefined) window.open(url, '_blank', 'noopener');
    else onTopUp(account);
  };
  return (
    <section class="pane chat" aria-labelledby="chat">
      <div class="chat-head">
        <h2 id="chat">Bot</h2>
        {messenger && (
          <button type="button" onClick={() => openApp(messenger.app_url)}>
            Open mini app
          </button>
        )}
      </div>
      {messenger ? (
        <>
          <Messages messages={messages} onPress={press} onCommand={say} />
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <ChatComposer language={language} onLanguage={setLanguage} onSay={say} />
        </>
      ) : (
        <p class="note">BOT_TOKEN connects the bot to the real messenger. Use the bot there.</p>
      )}
      {appAddress !== undefined && <MiniApp address={appAddress} onClose={() => setAppAddress(undefined)} />}
    </section>
  );
};

interface MessagesProps {
  readonly messages: readonly ChatMessage[];
  readonly onPress: (button: ChatButton) => void;
  readonly onCommand: (text: string) => void;
}

const Messages = ({ messages, onPress, onCommand }: MessagesProps) => {
  const list = useRef<HTMLOListElement>(null);
  const count = messages.length;
  useEffect(() => {
    if (count > 0) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [count]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus
    <ol class="messages" ref={list} tabIndex={0} aria-label="Messages" aria-live="polite">
      {count === 0 && <li class="note">Send /start: the bot opens an account and issues a key.</li>}
      {messages.map((message) => (
        <ChatMessageView key={message.id} message={message} onPress={onPress} onCommand={onCommand} />
      ))}
    </ol>
  );
};

/** Returns the URL of the mini app with init data that is signed now. */
const addressOfApp = async (url: string, language: ChatLanguage): Promise<string> => {
  const { messenger } = await fetchState(language);
  const { pathname } = new URL(url, location.origin);
  return `${pathname}#tgWebAppData=${encodeURIComponent(messenger?.init_data ?? '')}`;
};

const topUpAccountOf = (url: string): string | undefined => {
  const { origin, searchParams } = new URL(url, location.origin);
  return origin === location.origin ? (searchParams.get('topup') ?? undefined) : undefined;
};
