import { type Ask, reasoningTokensByEffort } from '../compose.ts';
import { seenImage } from './image-tokens.ts';
import { isReasoningModel } from './model-traits.ts';
import { contentText, type InputItem, isUserMessage, itemImages } from './responses-items.ts';
import { itemsOf, type ResponsesRequest } from './responses-request.ts';

export function toAsk(request: ResponsesRequest): Ask {
  const { model, tools = [], tool_choice: choice = 'auto' } = request;
  const items = itemsOf(request);
  const user = items.findLast(isUserMessage);
  const last = items.at(-1);
  return {
    model,
    prompt: user === undefined ? '' : contentText(user.content),
    images: user === undefined ? [] : itemImages(user).map(({ image_url: url }) => seenImage(url)),
    toolResults: toolResults(items),
    // After words of its own the model goes on talking.
    tools: last !== undefined && isUserMessage(last) ? tools.map(toAskTool) : [],
    toolChoice: typeof choice === 'string' ? choice : { name: choice.name },
    parallelTools: request.parallel_tool_calls !== false,
    format: toAskFormat(request),
    stop: [],
    cap: request.max_output_tokens ?? Number.POSITIVE_INFINITY,
    reasoningTokens: isReasoningModel(model) ? (reasoningTokensByEffort[effortOf(request)] ?? 0) : 0,
  };
}

export function effortOf({ reasoning }: ResponsesRequest): string {
  return reasoning?.effort ?? 'medium';
}

/** Those since the last words of anybody, calls and reasoning among them. */
function toolResults(items: readonly InputItem[]): readonly string[] {
  const latest = items.slice(items.findLastIndex((item) => 'role' in item) + 1);
  return latest.flatMap((item) => (item.type === 'function_call_output' ? [contentText(item.output)] : []));
}

function toAskTool({ name, parameters }: NonNullable<ResponsesRequest['tools']>[number]) {
  return { name, schema: parameters ?? { type: 'object' } };
}

function toAskFormat({ text }: ResponsesRequest): Ask['format'] {
  if (text?.format?.type === 'json_schema') return { schema: text.format.schema };
  return text?.format?.type === 'json_object' ? 'json' : 'text';
}
