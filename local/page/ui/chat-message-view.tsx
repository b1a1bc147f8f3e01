import { MessageText } from './message-text.tsx';
import type { ChatButton, ChatMessage } from './wire.ts';

interface ChatMessageViewProps {
  readonly message: ChatMessage;
  readonly onPress: (button: ChatButton) => void;
  readonly onCommand: (text: string) => void;
}

export const ChatMessageView = ({ message, onPress, onCommand }: ChatMessageViewProps) => (
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
