/** Data that lasts as long as the tab. A browser may forbid it in another page's frame; then nothing is kept. */
export interface Session {
  read(name: string): string | undefined;
  write(name: string, value: string): void;
}

export const openSession = (page: Pick<Window, 'sessionStorage'>): Session => ({
  read: (name) => {
    try {
      return page.sessionStorage.getItem(name) ?? undefined;
    } catch {
      return undefined;
    }
  },
  write: (name, value) => {
    try {
      page.sessionStorage.setItem(name, value);
    } catch {
      // The page works without a session, but after a reload, the user must open the page from the bot again.
    }
  },
});
