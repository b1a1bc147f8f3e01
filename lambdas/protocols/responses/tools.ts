import * as z from 'zod';
import { type FieldPolicy, fields } from '../fields.ts';
import { anyObject, listOf } from '../parse.ts';

export const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -');

const listed = { unknown: 'list' } as const;
const bounds = { max: 1_000, message: 'must be an array of tools' };

/**
 * Tools that the client runs: `FunctionTool`, `CustomTool` and `NamespaceTool` in the package openai 7.55.0
 * (resources/responses/responses.d.ts). They cost only prompt tokens.
 */
const clientTools = (policy: Pick<FieldPolicy, 'unknown'>) => {
  const shared = {
    name: toolName,
    description: z.string().nullish(),
    defer_loading: z.boolean().nullish(),
    allowed_callers: listOf(z.enum(['direct']), { max: 10, message: 'must be an array' }).nullish(),
  };
  const callable = [
    fields(
      {
        type: z.literal('function'),
        ...shared,
        parameters: anyObject.nullish(),
        strict: z.boolean().nullish(),
        output_schema: anyObject.nullish(),
      },
      { ...policy, nullable: ['parameters', 'strict'] },
    ),
    fields(
      {
        type: z.literal('custom'),
        ...shared,
        format: z
          .discriminatedUnion('type', [
            fields({ type: z.literal('text') }, policy),
            fields({ type: z.literal('grammar'), syntax: z.enum(['lark', 'regex']), definition: z.string() }, policy),
          ])
          .nullish(),
      },
      policy,
    ),
  ] as const;
  const namespace = fields(
    {
      type: z.literal('namespace'),
      name: toolName,
      description: z.string().nullish(),
      tools: listOf(z.discriminatedUnion('type', callable), bounds),
    },
    policy,
  );
  return [...callable, namespace] as const;
};

/** Requires `execution`, because without it the search runs at the provider. */
const toolSearch = fields(
  {
    type: z.literal('tool_search'),
    execution: z.enum(['client']),
    description: z.string().nullish(),
    parameters: anyObject.nullish(),
  },
  listed,
);

/**
 * Never sent. Codex offers this tool even if its user did not ask for it, with `external_web_access` set to false
 * unless Codex runs without a sandbox.
 */
const webSearch = fields(
  { type: z.literal('web_search'), external_web_access: z.boolean().nullish() },
  { unknown: 'accept' },
);

export const offeredTools = listOf(
  z.discriminatedUnion('type', [...clientTools(listed), toolSearch, webSearch]),
  bounds,
);

/** Result of a search, which clients copy back. */
export const foundTools = listOf(z.discriminatedUnion('type', clientTools({ unknown: 'accept' })), bounds);

const choice = [
  fields({ type: z.literal('function'), name: toolName }, listed),
  fields({ type: z.literal('custom'), name: toolName }, listed),
] as const;

const allowed = z.discriminatedUnion('type', [
  ...choice,
  fields({ type: z.literal('namespace'), name: toolName }, listed),
  fields({ type: z.literal('tool_search') }, listed),
]);

export const toolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    z.discriminatedUnion('type', [
      ...choice,
      fields(
        { type: z.literal('allowed_tools'), mode: z.enum(['auto', 'required']), tools: listOf(allowed, bounds) },
        listed,
      ),
    ]),
  ],
  'must be "none", "auto", "required", {type: "function" or "custom", name} or {type: "allowed_tools", mode, tools}',
);
