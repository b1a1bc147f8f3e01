import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderMarkdown } from './markdown.ts';

const source = join(import.meta.dirname, '../../docs/guides/clients.md');

/** Content of a build without `docs/guides/clients.md`. */
const MISSING =
  '# Clients\n\nThis build has no client guide. The [API reference](/api-reference) describes every route.\n';

/** `clients.html` of the API reference: the client guide as a page that needs no script (REF-2). */
export const clientGuide = (): string => toPage(existsSync(source) ? readFileSync(source, 'utf8') : MISSING);

export const toPage = (markdown: string): string => {
  const { title, html } = renderMarkdown(markdown);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Model gateway: ${title}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/api-reference/clients.css" />
  </head>
  <body>
    <header><a href="/api-reference">API reference</a></header>
    <main>
${html}
    </main>
  </body>
</html>
`;
};
