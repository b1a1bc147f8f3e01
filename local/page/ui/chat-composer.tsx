import { type ChatLanguage, chatLanguages } from './languages.ts';

interface ChatComposerProps {
  readonly language: ChatLanguage;
  readonly onLanguage: (language: ChatLanguage) => void;
  readonly onSay: (text: string) => void;
}

const commands = ['/start', '/key', '/balance', '/usage', '/models', '/topup', '/help'];

export const ChatComposer = ({ language, onLanguage, onSay }: ChatComposerProps) => {
  const send = (form: HTMLFormElement): void => {
    const text = new FormData(form).get('text')?.toString().trim() ?? '';
    if (text === '') return;
    onSay(text);
    form.reset();
  };
  return (
    <>
      <div class="commands">
        {commands.map((command) => (
          <button key={command} type="button" onClick={() => onSay(command)}>
            {command}
          </button>
        ))}
      </div>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          send(event.currentTarget);
        }}
      >
        <select
          aria-label="Language of the user"
          value={language}
          onChange={({ currentTarget: { value } }) => onLanguage(chatLanguages.find((name) => name === value) ?? 'en')}
        >
          {chatLanguages.map((name) => (
            <option key={name} value={name}>
              {name.toUpperCase()}
            </option>
          ))}
        </select>
        <input name="text" aria-label="Message" placeholder="Message" autocomplete="off" />
        <button type="submit" class="main">
          Send
        </button>
      </form>
    </>
  );
};
