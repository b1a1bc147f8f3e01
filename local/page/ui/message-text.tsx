import type { ComponentChildren } from 'preact';
import type { ChatMessage, TextSpan } from './wire.ts';

interface MessageTextProps {
  readonly message: ChatMessage;
  readonly onCommand: (command: string) => void;
}

export const MessageText = ({ message: { text, spans }, onCommand }: MessageTextProps) => {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const span of [...spans].sort((one, other) => one.offset - other.offset)) {
    // A nested span is shown in the style of the outer one.
    if (span.offset < at) continue;
    const end = span.offset + span.length;
    parts.push(withCommands(text.slice(at, span.offset), onCommand), toElement(span, text.slice(span.offset, end)));
    at = end;
  }
  return (
    <div class="text">
      {parts}
      {withCommands(text.slice(at), onCommand)}
    </div>
  );
};

const toElement = ({ kind, url }: TextSpan, text: string): ComponentChildren => {
  if (kind === 'bold') return <b>{text}</b>;
  if (kind === 'code') return <code>{text}</code>;
  return url !== undefined && /^https?:/.test(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  ) : (
    text
  );
};

/** Makes commands clickable. */
const withCommands = (text: string, onCommand: MessageTextProps['onCommand']): ComponentChildren =>
  text.split(/((?<=^|\s)\/[a-z]+(?=$|[\s.,]))/m).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <button key={part} type="button" class="command" onClick={() => onCommand(part)}>
        {part}
      </button>
    ),
  );
