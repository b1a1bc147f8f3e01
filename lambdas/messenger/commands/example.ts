import type { BotPorts } from '../bot-ports.ts';

interface Example {
  readonly baseUrl: string | undefined;
  readonly example: string | undefined;
  /** URL of the client guide (REF-2). */
  readonly guide: string | undefined;
}

/** A first request, ready to be pasted: what it costs is next to nothing, with the cheapest model there is. */
export const exampleFor = ({ publicUrl, catalog, clock }: BotPorts, apiKey: string): Example => {
  if (publicUrl === undefined) return { baseUrl: undefined, example: undefined, guide: undefined };
  const { origin } = new URL(publicUrl);
  const baseUrl = `${origin}/v1`;
  const guide = `${origin}/api-reference/clients`;
  const nowMs = clock.now();
  const [cheapest] = catalog
    .list(nowMs)
    .filter((model) => model.kind === 'text')
    .filter(({ protocols }) => protocols.includes('chat_completions'))
    .map((model) => ({ id: model.id, output: catalog.priceRow(model, nowMs).rates.output }))
    .toSorted((one, other) => Number(one.output - other.output));
  if (!cheapest) return { baseUrl, example: undefined, guide };
  const body = JSON.stringify({ model: cheapest.id, messages: [{ role: 'user', content: 'Hello!' }] });
  const parts = [
    `curl ${baseUrl}/chat/completions`,
    `-H "Authorization: Bearer ${apiKey}"`,
    '-H "Content-Type: application/json"',
    `-d '${body}'`,
  ];
  return { baseUrl, example: parts.join(' \\\n  '), guide };
};
