import { type Ask, reasoningTokensByEffort } from '../compose.ts';
import { seenImage } from './image-tokens.ts';
import { isReasoningModel } from './model-traits.ts';
import { contentText, type InputItem, isUserMessage, itemImages } from './responses-items.ts';
import { itemsOf, type ResponsesRequest } from './responses-request.ts';
import { type CallableTool, callableTools } from './responses-tools.ts';

export function toAsk(request: ResponsesRequest): Ask {
  const { model } = request;
  const items = itemsOf(request);
  const user = items.findLast(isUserMessage);
  const last = items.at(-1);
  return {
    model,
    prompt: user === undefined ? '' : contentText(user.content),
    images: user === undefined ? [] : itemImages(user).map(({ image_url: url }) => seenImage(url)),
    toolResults: toolResults(items),
    // Offers tools only right after a user message. Otherwise an unscripted model writes text, for example from tool
    // results or to continue its own message.
    tools: last !== undefined && isUserMessage(last) ? offeredTools(request).map(toAskTool) : [],
    toolChoice: toAskChoice(request),
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

/** Returns the results since the last message, including calls and reasoning between them. */
function toolResults(items: readonly InputItem[]): readonly string[] {
  const latest = items.slice(items.findLastIndex((item) => 'role' in item) + 1);
  return latest.flatMap((item) => ('output' in item ? [contentText(item.output)] : []));
}

/** `allowed_tools` names the tools that the model may call. */
function offeredTools({ tools, tool_choice: choice }: ResponsesRequest): readonly CallableTool[] {
  const offered = callableTools(tools);
  if (typeof choice !== 'object' || choice?.type !== 'allowed_tools') return offered;
  return offered.filter(({ name }) => choice.tools.some((allowed) => allowed.name === name));
}

function toAskChoice({ tool_choice: choice }: ResponsesRequest): Ask['toolChoice'] {
  if (choice == null) return 'auto';
  if (typeof choice === 'string') return choice;
  return choice.type === 'allowed_tools' ? choice.mode : { name: choice.name };
}

/** The input of a custom tool is free text. */
const customInput = { const: 'simulated input' };

function toAskTool(tool: CallableTool) {
  const schema = tool.type === 'custom' ? customInput : (tool.parameters ?? { type: 'object' });
  return { name: tool.name, schema };
}

function toAskFormat({ text }: ResponsesRequest): Ask['format'] {
  if (text?.format?.type === 'json_schema') return { schema: text.format.schema };
  return text?.format?.type === 'json_object' ? 'json' : 'text';
}
