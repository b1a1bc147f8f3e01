import type * as z from 'zod';
import { readImageInput } from '../image-input.ts';
import { issueText } from '../issue-text.ts';
import { isRecord } from '../json-sample.ts';
import type { VendorRefusal } from '../wire.ts';
import { openaiError } from './error.ts';

/** Parses the body by the schema, or throws the provider's 400. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (!isRecord(body)) throw openaiError(400, 'We could not parse the JSON body of your request.');
  if (body.model === undefined || body.model === '') throw openaiError(400, 'you must provide a model parameter');
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw schemaError(parsed.error);
  return parsed.data;
}

function schemaError(error: z.ZodError): VendorRefusal {
  const issue = error.issues[0];
  if (issue === undefined) return openaiError(400, 'Invalid request.');
  const param = toParam(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const unknown = toParam([...issue.path, issue.keys[0] ?? '']);
    return openaiError(400, `Unknown parameter: '${unknown}'.`, { param: unknown, code: 'unknown_parameter' });
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    const message = `Missing required parameter: '${param}'.`;
    return openaiError(400, message, { param, code: 'missing_required_parameter' });
  }
  const code = issue.code === 'invalid_type' ? 'invalid_type' : 'invalid_value';
  return openaiError(400, `Invalid '${param}': ${issueText(issue)}.`, { param, code });
}

/** `messages[0].content`, as the provider writes it. */
function toParam(path: readonly PropertyKey[]): string {
  return path.reduce<string>((written, step) => {
    if (typeof step === 'number') return `${written}[${step}]`;
    return written === '' ? String(step) : `${written}.${String(step)}`;
  }, '');
}

export function unsupportedParameter(param: string, code: string | undefined, hint = ''): VendorRefusal {
  const message = `Unsupported parameter: '${param}' is not supported with this model. ${hint}`.trim();
  return openaiError(400, message, { param, code });
}

export function refuseImage(url: string): VendorRefusal | undefined {
  const { kind } = readImageInput(url);
  if (kind === 'unreachable') {
    return openaiError(400, `Error while downloading ${url}.`, { code: 'invalid_image_url' });
  }
  if (kind === 'image') return undefined;
  const formats = "['png', 'jpeg', 'gif', 'webp']";
  const message = `You uploaded an unsupported image. Please make sure your image has of one the following formats: ${formats}.`;
  return openaiError(400, message, { code: 'invalid_image_format' });
}
