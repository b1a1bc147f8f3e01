import type { Wire } from '../../core/catalog/providers.ts';
import type { JsonObject } from '../../core/json.ts';
import { claude, gemini } from '../chat-fields.ts';
import type { IgnoredFields } from '../fields.ts';
import { toParam } from '../parse.ts';
import { adaptSchema } from './adapt-schema.ts';
import type { ChatBody } from './body.ts';
import { objectSchema } from './object-schema.ts';
import { claudeDialect, geminiDialect } from './schema-dialects.ts';
import { SchemaWork } from './schema-work.ts';

type Format = NonNullable<ChatBody['response_format']>;
type Tool = NonNullable<ChatBody['tools']>[number];

/**
 * Body with schemas in the form that Claude or Gemini accepts (CHAT-8). Every other provider gets them unchanged. Lists
 * the keywords that the provider does not enforce. Throws a 400 for schemas that take too much work.
 */
export const withSchemasFor = (wire: Wire, body: ChatBody, ignored: IgnoredFields): ChatBody => {
  if (!claude.includes(wire) && !gemini.includes(wire)) return body;
  const { response_format: format, tools } = body;
  const work = new SchemaWork();
  return {
    ...body,
    ...(format && { response_format: formatFor(format, wire, ignored, work) }),
    ...(tools && {
      tools: tools.map((tool, at) => toolFor(tool, wire, ignored, work.at(`tools[${at}].function.parameters`))),
    }),
  };
};

/** Neither provider accepts a `description` of the format. */
const formatFor = (format: Format, wire: Wire, ignored: IgnoredFields, work: SchemaWork): Format => {
  if (format.type !== 'json_schema') return format;
  const { description, schema, ...rest } = format.json_schema;
  const path = ['response_format', 'json_schema'];
  if (description !== undefined) ignored.add([...path, 'description']);
  if (!schema) return { ...format, json_schema: rest };
  const dialect = claude.includes(wire) ? claudeDialect : geminiDialect;
  const adapted = adaptSchema(schema, dialect, work.at(toParam([...path, 'schema'])));
  for (const keyword of adapted.dropped) ignored.add([...path, 'schema', keyword]);
  return { ...format, json_schema: { ...rest, schema: adapted.schema } };
};

/**
 * Claude compiles the parameters of strict tools as it does formats. Both providers accept nearly all keywords in other
 * tools: https://github.com/NousResearch/hermes-agent/pull/98928 (2026-08-30) for Gemini. But Gemini rejects keywords
 * beside a reference (https://github.com/anomalyco/opencode/issues/12295) and required loops.
 */
const toolFor = (tool: Tool, wire: Wire, ignored: IgnoredFields, work: SchemaWork): Tool => {
  const { parameters, strict } = tool.function;
  if (!parameters) return tool;
  const { schema, dropped } = parametersFor(parameters, claude.includes(wire), strict ?? false, work);
  for (const keyword of dropped) ignored.add(['tools', 0, 'function', 'parameters', keyword]);
  return { ...tool, function: { ...tool.function, parameters: schema } };
};

const parametersFor = (
  parameters: JsonObject,
  isClaude: boolean,
  strict: boolean,
  work: SchemaWork,
): ReturnType<typeof adaptSchema> => {
  const plain = objectSchema(parameters, !isClaude, work);
  if (isClaude ? !strict : !hasReference(plain.schema)) return plain;
  const adapted = adaptSchema(plain.schema, isClaude ? claudeDialect : geminiDialect, work);
  const schema = isClaude ? adapted.schema : { ...adapted.schema, type: 'object' };
  return { schema, dropped: new Set([...plain.dropped, ...adapted.dropped]) };
};

const hasReference = (schema: JsonObject): boolean => JSON.stringify(schema).includes('"$ref":');
