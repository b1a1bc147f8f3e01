import * as z from 'zod';

/** Members that are read before a body is checked: for scenarios and for error messages. */
const modelSchema = z.looseObject({ model: z.string() });
const partsSchema = z.array(z.looseObject({ text: z.string().optional() }));

export function modelOf(body: unknown): string {
  return modelSchema.safeParse(body).data?.model ?? '';
}

export function textOfParts(content: unknown): string {
  if (typeof content === 'string') return content;
  return (partsSchema.safeParse(content).data ?? []).map(({ text }) => text ?? '').join('\n');
}
