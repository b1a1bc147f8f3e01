import * as z from 'zod';

/** Tool call that a prompt scripts: `[[call <tool> <arguments>]]`. */
export type ScriptedCall = { readonly name: string; readonly argumentsJson: string };

/** Scripted calls for this request: the next one, or none after every call has a result. */
export type Script = { readonly calls: readonly ScriptedCall[] };

const pattern = /\[\[call ([\w.:/-]{1,200}) (.*?)\]\]/gs;

/** Arguments are a JSON object without `]]`. Other text in brackets is user text. */
const callsIn = (text: string): readonly ScriptedCall[] =>
  [...text.matchAll(pattern)].flatMap(([, name = '', argumentsJson = '']) =>
    isJsonObject(argumentsJson) ? [{ name, argumentsJson }] : [],
  );

export const withoutScript = (text: string): string =>
  text.replace(pattern, (marker, _, argumentsJson: string) => (isJsonObject(argumentsJson) ? '' : marker));

const isJsonObject = (text: string): boolean => {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
};

const toolSchema = z.looseObject({
  name: z.string().optional(),
  function: z.looseObject({ name: z.string() }).optional(),
  functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional(),
});

const partSchema = z.looseObject({
  type: z.string().optional(),
  text: z.string().optional(),
  functionResponse: z.unknown().optional(),
});
type Part = z.output<typeof partSchema>;

const partsSchema = z.union([
  z.string().transform((text): readonly Part[] => [{ text }]),
  z.array(partSchema),
  z.null().transform((): readonly Part[] => []),
]);

/** A message, a content or an item, of any provider. */
const turnSchema = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: partsSchema.catch([]).optional(),
  parts: partsSchema.catch([]).optional(),
});
type Turn = z.output<typeof turnSchema>;

const turnsSchema = z.union([
  z.array(turnSchema),
  z.string().transform((content): readonly Turn[] => [{ role: 'user', content: [{ text: content }] }]),
]);

const bodySchema = z.looseObject({
  messages: turnsSchema.optional(),
  input: turnsSchema.optional(),
  contents: turnsSchema.optional(),
  tools: z.array(toolSchema.catch({})).catch([]).optional(),
});

/**
 * Script of the last user message that has one, in the body of any provider. Undefined without one. A call of a tool
 * that the request does not offer is skipped, because clients also send user prompts in requests without tools, such as
 * one for a title.
 */
export const scriptOf = (body: unknown): Script | undefined => {
  const { messages, input, contents, tools = [] } = bodySchema.safeParse(body).data ?? {};
  const turns = messages ?? input ?? contents ?? [];
  const at = turns.findLastIndex((turn) => callsIn(userText(turn)).length > 0);
  const turn = turns[at];
  if (turn === undefined) return undefined;
  const results = turns.slice(at).reduce((sum, later) => sum + resultsIn(later), 0);
  const next = callsIn(userText(turn))[results];
  const offered = new Set(tools.flatMap(namesOf));
  return { calls: next !== undefined && offered.has(next.name) ? [next] : [] };
};

const partsOf = ({ content, parts }: Turn): readonly Part[] => content ?? parts ?? [];

const userText = (turn: Turn): string =>
  turn.role === 'user'
    ? partsOf(turn)
        .map(({ text = '' }) => text)
        .join('\n')
    : '';

const resultsIn = (turn: Turn): number => {
  if (turn.role === 'tool' || turn.type?.endsWith('_output')) return 1;
  return partsOf(turn).filter((part) => part.type === 'tool_result' || part.functionResponse !== undefined).length;
};

const namesOf = ({ name, function: called, functionDeclarations = [] }: z.output<typeof toolSchema>) =>
  [name, called?.name, ...functionDeclarations.map((declaration) => declaration.name)].filter(Boolean);
