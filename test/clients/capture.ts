import { type Case, type Client, chatModels, nativeModels, scenariosOf } from './client.ts';
import { isAnswerCall, isErrorScenario } from './judge.ts';
import type { Call } from './proxy.ts';

/** An entry of `test/clients/corpus`. */
export interface CapturedRequest {
  readonly about: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const keptHeaders = ['anthropic-version', 'anthropic-beta'] as const;

/** Names of fields whose text is never replaced, because a provider or the gateway needs the exact value. */
const exact = new Set([
  'arguments',
  'data',
  'encrypted_content',
  'id',
  'signature',
  'thoughtSignature',
  'thought_signature',
  'url',
  'image_url',
]);
const TEXT_MAX = 70;
const DESCRIPTION_MAX = 30;
/** Temporary folder of a command-line client, which differs between runs. */
const runFolder = /\/[^\s"]*\/gateway-client-[\w-]+\/scenario-\w+/g;

const ROUNDS = 4;

/** Prompt for which the simulated providers request four tool calls, one after the other, so that the history grows. */
export const weatherPrompt = `What is the weather in Paris?${' [[call get_weather {"city":"Paris"}]]'.repeat(ROUNDS)}`;

/**
 * Additional models to capture, by the model of a case, or by its route and model. They have the same provider, but
 * other rules.
 */
const furtherModels: Readonly<Record<string, readonly string[]>> = {
  [chatModels[0]]: ['gpt-4.1-mini'],
  [chatModels[1]]: ['claude-sonnet-5-5'],
  [chatModels[2]]: ['gemini-3.1-pro-preview'],
  [`messages ${nativeModels.messages}`]: ['claude-sonnet-5', 'claude-fable-5-2'],
  [`gemini ${nativeModels.gemini}`]: ['gemini-3.1-pro-preview', 'gemini-4-argon'],
};

/**
 * Adds the additional models to a client, and removes its error scenarios. Command-line clients stay unchanged, because
 * they use the models of their configuration.
 */
export const onMoreModels = (client: Client): Client =>
  client.program.startsWith('cli/') ? client : { ...client, cases: client.cases.flatMap(withFurtherModels) };

const withFurtherModels = (row: Case): readonly Case[] => {
  const scenarios = Object.fromEntries(scenariosOf(row).filter(([name]) => !isErrorScenario(name)));
  const key = row.route === 'chat' ? row.model : `${row.route} ${row.model}`;
  return [row.model, ...(furtherModels[key] ?? [])].map((model) => ({ ...row, model, scenarios }));
};

const WITH_RESULTS_MAX = 12;
const OTHERS_MAX = 10;
const toolResult = /"(tool_call_id|tool_use_id|functionResponse|function_call_output|custom_tool_call_output)"/;

/** Selects requests of one client evenly, some with tool results and some without. */
export const chooseRequests = (captured: readonly CapturedRequest[]): readonly CapturedRequest[] => {
  const withResults = captured.filter(({ body }) => toolResult.test(JSON.stringify(body)));
  const others = captured.filter((request) => !withResults.includes(request));
  return [...evenly(others, OTHERS_MAX), ...evenly(withResults, WITH_RESULTS_MAX)];
};

const evenly = <Item>(items: readonly Item[], amount: number): readonly Item[] => {
  const step = Math.max(1, items.length / amount);
  return items.filter((_, index) => Math.floor(index / step) > Math.floor((index - 1) / step));
};

/** Selects model requests for the corpus. Long texts are replaced, because they belong to the client. */
export const toCaptured = (about: string, calls: readonly Call[]): readonly CapturedRequest[] =>
  calls.filter(isAnswerCall).map(({ path, query, headers, body }, index) => ({
    about: `${about}, request ${index + 1}`,
    path: query.size > 0 ? `${path}?${query}` : path,
    headers: Object.fromEntries(keptHeaders.flatMap((name) => toEntry(name, headers[name]))),
    body: withoutTexts(body, ''),
  }));

const toEntry = (name: string, value: string | string[] | undefined): readonly (readonly [string, string])[] =>
  typeof value === 'string' ? [[name, value]] : [];

const withoutTexts = (value: unknown, name: string): unknown => {
  if (typeof value === 'string') {
    if (value.length > (name === 'description' ? DESCRIPTION_MAX : TEXT_MAX) && !exact.has(name))
      return `A text of ${value.length} characters.`;
    return value.replaceAll(runFolder, '/workspace');
  }
  if (Array.isArray(value)) return value.map((entry) => withoutTexts(entry, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, of]) => [member, withoutTexts(of, member)]));
};
