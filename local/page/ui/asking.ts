import type { ChatLanguage } from './languages.ts';
import type { LocalState } from './wire.ts';

/** Returns the body of the local program's response. Throws an Error with the message of an error response. */
const read = async (response: Response): Promise<unknown> => {
  const body: { error?: { message?: string } } = await response.json();
  if (!response.ok) throw new Error(body.error?.message ?? `The local gateway returned the status ${response.status}.`);
  return body;
};

export const fetchState = async (language: ChatLanguage): Promise<LocalState> => {
  const response = await fetch(`/local/state?language=${language}`);
  if (!response.ok) await read(response);
  return response.json();
};

type PostPath =
  | '/local/say'
  | '/local/bot-key'
  | '/local/fault'
  | '/local/top-up'
  | '/local/webhooks/answer'
  | '/local/webhooks/clear';

export const post = async (path: PostPath, body: object) =>
  read(
    await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );

export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
