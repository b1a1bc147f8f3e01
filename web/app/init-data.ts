import type { Language } from './language.ts';
import { openSession } from './session.ts';

declare global {
  interface Window {
    /** Object of the messenger's own script, if it is loaded. */
    readonly Telegram?: { readonly WebApp?: { readonly initData?: string; readonly themeParams?: unknown } };
  }
}

/** Data that the messenger passes when it opens the page. */
export interface Opening {
  /** Signed by the messenger: proves the user to the gateway. Undefined if the messenger did not open the page. */
  readonly initData: string | undefined;
  readonly language: Language;
  /** Colors by name, not checked. */
  readonly theme: unknown;
}

interface Handed {
  readonly initData: string | undefined;
  readonly theme: unknown;
}

export type OpenedPage = Pick<Window, 'Telegram' | 'location' | 'history' | 'sessionStorage'>;

const STORED = 'opening';

/** Removes the credential from the address bar. The session keeps it, so that a reload works. */
export const takeOpening = (page: OpenedPage): Opening => {
  const session = openSession(page);
  const hash = page.location.hash.slice(1);
  const isHanded = new URLSearchParams(hash).has('tgWebAppData');
  if (isHanded) {
    session.write(STORED, hash);
    page.history.replaceState(null, '', page.location.pathname + page.location.search);
  }
  const handed = fromScript(page) ?? fromHash(isHanded ? hash : (session.read(STORED) ?? ''));
  return { ...handed, language: languageOf(handed.initData) };
};

const fromScript = ({ Telegram }: OpenedPage): Handed | undefined => {
  const { initData, themeParams } = Telegram?.WebApp ?? {};
  return initData ? { initData, theme: themeParams } : undefined;
};

/** https://core.telegram.org/bots/webapps: the data is in the fragment, with a second encoding. */
const fromHash = (hash: string): Handed => {
  const fields = new URLSearchParams(hash);
  return { initData: fields.get('tgWebAppData') || undefined, theme: parse(fields.get('tgWebAppThemeParams')) };
};

const languageOf = (initData: string | undefined): Language => {
  const user = parse(new URLSearchParams(initData).get('user'));
  const code = typeof user === 'object' && user !== null && 'language_code' in user ? user.language_code : undefined;
  return typeof code === 'string' && /^ru\b/i.test(code) ? 'ru' : 'en';
};

const parse = (json: string | null): unknown => {
  try {
    return JSON.parse(json ?? 'null');
  } catch {
    return null;
  }
};
