import type { Language } from './language.ts';
import { openSession } from './session.ts';

declare global {
  interface Window {
    /** Of the messenger's own script, where whoever shows this page has loaded it. */
    readonly Telegram?: { readonly WebApp?: { readonly initData?: string; readonly themeParams?: unknown } };
  }
}

/** What the messenger hands over when it opens the page. */
export interface Opening {
  /** Signed by the messenger; proves to the gateway who is looking. Undefined when the page was not opened by it. */
  readonly initData: string | undefined;
  readonly language: Language;
  /** Colours by name, not yet checked. */
  readonly theme: unknown;
}

interface Handed {
  readonly initData: string | undefined;
  readonly theme: unknown;
}

export type OpenedPage = Pick<Window, 'Telegram' | 'location' | 'history' | 'sessionStorage'>;

const STORED = 'opening';

/** Takes the credential out of the address bar; the session keeps it, so that a reload works. */
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

/** https://core.telegram.org/bots/webapps: the data stands in the fragment, encoded once more. */
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
