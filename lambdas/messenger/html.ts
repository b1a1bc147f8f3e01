/** Text with the HTML tags that the messenger supports. https://core.telegram.org/bots/api#html-style */
export interface Html {
  readonly html: string;
}

type Piece = string | number | Html;

/** Escapes inserted values, except `Html`. */
export const html = (parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html => ({
  html: parts.map((part, index) => `${part}${index < pieces.length ? toHtml(pieces[index] ?? '') : ''}`).join(''),
});

export const lines = (all: readonly Html[]): Html => ({ html: all.map((line) => line.html).join('\n') });

const toHtml = (piece: Piece): string => (typeof piece === 'object' ? piece.html : escapeHtml(String(piece)));

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
