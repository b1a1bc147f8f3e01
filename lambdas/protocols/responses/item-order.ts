import { isJsonObject, type JsonValue } from '../../core/json.ts';

const typeOf = (item: JsonValue): string => {
  if (!isJsonObject(item)) return '';
  return typeof item.type === 'string' ? item.type : 'message';
};

const isAnswerMessage = (item: JsonValue): boolean =>
  typeOf(item) === 'message' && isJsonObject(item) && item.role === 'assistant';

const moved = (items: readonly JsonValue[], from: number, to: number): readonly JsonValue[] => {
  const rest = items.toSpliced(from, 1);
  return rest.toSpliced(to, 0, ...items.slice(from, from + 1));
};

/** RESP-5: the message a caller looks for at output[0] comes first; the reasoning it was made with stands before it at the vendor. */
export const messageFirst = (output: readonly JsonValue[]): readonly JsonValue[] => {
  const at = output.findIndex(isAnswerMessage);
  return at <= 0 ? output : moved(output, at, 0);
};

const isReasoning = (item: JsonValue | undefined): boolean => item !== undefined && typeOf(item) === 'reasoning';

const callTypes: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'tool_search_call']);

/** Whether the model wrote the item. */
const isOfAnswer = (item: JsonValue): boolean =>
  isAnswerMessage(item) || isReasoning(item) || callTypes.has(typeOf(item));

/**
 * RESP-5, undone: answers that a client sends back with their message first. The provider refuses reasoning without the item that
 * followed it. So the message goes back behind the reasoning that nothing else follows, else behind the first. Reasoning that is
 * then the last of its answer, such as that of an incomplete response, is left out.
 */
export const reasoningFirst = (input: readonly JsonValue[]): readonly JsonValue[] => {
  const ordered: JsonValue[] = [];
  let at = 0;
  while (at < input.length) {
    let end = at;
    while (end < input.length && isOfAnswer(input[end] ?? null)) end += 1;
    ordered.push(...withoutLooseReasoning(restored(input.slice(at, end))));
    const outside = input[end];
    if (outside !== undefined) ordered.push(outside);
    at = end + 1;
  }
  return ordered;
};

const restored = (answer: readonly JsonValue[]): readonly JsonValue[] => {
  const [first, ...others] = answer;
  if (first === undefined || !isAnswerMessage(first)) return answer;
  const isAlone = (item: JsonValue, at: number): boolean =>
    isReasoning(item) && (at + 1 === others.length || isReasoning(others[at + 1]));
  const alone = others.findLastIndex(isAlone);
  const after = alone >= 0 ? alone : others.findIndex(isReasoning);
  return after < 0 ? answer : moved(answer, 0, after + 1);
};

const withoutLooseReasoning = (answer: readonly JsonValue[]): readonly JsonValue[] =>
  answer.slice(0, answer.findLastIndex((item) => !isReasoning(item)) + 1);
