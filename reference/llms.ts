import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Route, routes } from '../lambdas/routes.ts';
import { operations } from './operations.ts';
import { tagGroups } from './tags.ts';

const docs = join(import.meta.dirname, '../docs');

const head = `# Model gateway

> Prepaid HTTP API for models of several providers: text, images, video, speech, embeddings and moderation. Keep the SDK of OpenAI, Anthropic or
> Google, and change its base URL and API key.

Send the API key as \`Authorization: Bearer <key>\`, at \`/v1/messages\` as \`x-api-key\`, at \`/v1beta\` as \`x-goog-api-key\`. Every error has a code and
names its fix. Failures cost nothing. \`GET /v1/models\` lists the model ids.
`;

/**
 * Returns `llms.txt` in the format of https://llmstxt.org: guides and routes as links, for programs that read the
 * reference. `origin` is the URL of the gateway without a path; without it, links have paths only.
 */
export const llmsText = (origin = ''): string => {
  const [user, operator] = tagGroups.map(({ tags }) => routeLinks(tags, origin));
  const sections = [
    ['Guides', guideLinks(origin)],
    ['API', [...(user ?? []), `- [OpenAPI 3.1](${origin}/api-reference/openapi.json): every route, schema and error`]],
    // Readers with little space leave out the section of this name.
    ['Optional', operator ?? []],
  ] as const;
  return `${head}${sections.map(([title, links]) => `\n## ${title}\n\n${links.join('\n')}\n`).join('')}`;
};

/** Links to the guides in the order of `docs/README.md`, each with its first paragraph. */
const guideLinks = (origin: string): readonly string[] => {
  const names = [...readFileSync(join(docs, 'README.md'), 'utf8').matchAll(/\]\(guides\/([\w-]+)\.md\)/g)];
  return names.map(([, name = '']) => {
    const [title = '', summary = ''] = readFileSync(join(docs, 'guides', `${name}.md`), 'utf8').split('\n\n');
    return `- [${title.replace('# ', '')}](${origin}/api-reference/guides/${name}.md): ${summary.replaceAll('\n', ' ')}`;
  });
};

const routeLinks = (tags: readonly string[], origin: string): readonly string[] =>
  tags.flatMap((tag) =>
    Object.entries<Route>(routes).flatMap(([name, { method, path }]) => {
      const operation = Object.entries(operations).find(([each]) => each === name)?.[1];
      if (operation?.tag !== tag) return [];
      return [`- [${method} ${path}](${origin}/api-reference/routes/${kebabCase(name)}): ${operation.summary}`];
    }),
  );

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
