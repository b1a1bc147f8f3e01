import * as z from 'zod';

/** https://developers.openai.com/api/docs/guides/function-calling; tools that run at the provider are not simulated. */
const toolName = z.string().regex(/^[\w-]{1,64}$/);
const shared = {
  description: z.string().nullish(),
  allowed_callers: z.array(z.enum(['direct', 'programmatic'])).nullish(),
  async: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
};

const functionTool = z.strictObject({
  type: z.literal('function'),
  name: toolName,
  parameters: z.record(z.string(), z.unknown()).nullish(),
  output_schema: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
  ...shared,
});

const customTool = z.strictObject({
  type: z.literal('custom'),
  name: toolName,
  format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('grammar'), syntax: z.enum(['lark', 'regex']), definition: z.string() }),
    ])
    .nullish(),
  ...shared,
});

const namespaceTool = z.strictObject({
  type: z.literal('namespace'),
  name: toolName,
  description: z.string(),
  tools: z.array(z.discriminatedUnion('type', [functionTool, customTool])),
});

const toolSearch = z.strictObject({
  type: z.literal('tool_search'),
  description: z.string().nullish(),
  execution: z.enum(['client', 'server']).nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

export const tools = z
  .array(z.discriminatedUnion('type', [functionTool, customTool, namespaceTool, toolSearch]))
  .max(128);

export const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.strictObject({ type: z.enum(['function', 'custom']), name: z.string() }),
  z.strictObject({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: z.array(z.record(z.string(), z.unknown())),
  }),
]);

export type Tools = z.infer<typeof tools>;
export type ToolChoice = z.infer<typeof toolChoice>;

/** Tool that the model can call, with its namespace. */
export type CallableTool = (z.infer<typeof functionTool> | z.infer<typeof customTool>) & {
  readonly namespace?: string;
};

export function callableTools(given: Tools | null | undefined): readonly CallableTool[] {
  return (given ?? []).flatMap((tool): readonly CallableTool[] => {
    if (tool.type === 'namespace') return tool.tools.map((inner) => ({ ...inner, namespace: tool.name }));
    return tool.type === 'tool_search' ? [] : [tool];
  });
}
