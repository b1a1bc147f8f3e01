import type { JsonObject } from '../../lambdas/core/json.ts';
import type { Credential } from '../../lambdas/routes.ts';
import { printLiteral } from './literals.ts';
import { fileFor, isFileName, type SampleRequest } from './sample-request.ts';

/** Header of each credential, in double quotes of a shell. */
const headers: Record<Credential, readonly string[]> = {
  none: [],
  bearer: ['authorization: Bearer $GATEWAY_KEY'],
  any: ['authorization: Bearer $GATEWAY_KEY'],
  messages: ['x-api-key: $GATEWAY_KEY', 'anthropic-version: 2023-06-01'],
  generate_content: ['x-goog-api-key: $GATEWAY_KEY'],
  init_data: ['authorization: tma $INIT_DATA'],
  bot: ['x-telegram-bot-api-secret-token: $BOT_SECRET'],
  signature: ['x-service-signature: t=$T,v1=$V1'],
};

/** Prints a command for bash. A signed body is in a variable, because the signature covers its bytes. */
export const toCurl = (request: SampleRequest): string => {
  const { credential, body } = request;
  if (credential !== 'signature' || body === undefined) return command(request, dataOf(body));
  return [
    `BODY=${quoted(JSON.stringify(body.value))}`,
    'T=$(date +%s)',
    `V1=$(printf '%s.%s' "$T" "$BODY" | openssl dgst -sha256 -hmac "$TOP_UP_KEY" | sed 's/.* //')`,
    command(request, ['-d "$BODY"']),
  ].join('\n');
};

const command = ({ method, target, credential, body, accepts }: SampleRequest, data: readonly string[]): string => {
  const streams = accepts === 'text/event-stream' ? '-N ' : '';
  const verb = method === 'GET' || (method === 'POST' && body) ? '' : `-X ${method} `;
  const file = fileFor(accepts);
  const lines = [
    `curl ${streams}${verb}"$GATEWAY_URL${target}"`,
    ...headers[credential].map((header) => `-H "${header}"`),
    ...(body?.kind === 'json' ? ["-H 'content-type: application/json'"] : []),
    ...data,
    ...(file === undefined ? [] : [`-o ${file}`]),
  ];
  return lines.join(' \\\n  ');
};

const dataOf = (body: SampleRequest['body']): readonly string[] => {
  if (!body) return [];
  return body.kind === 'json' ? [`-d ${quoted(printLiteral(body.value, 'json'))}`] : fieldsOf(body.value);
};

const fieldsOf = (value: JsonObject): readonly string[] =>
  Object.entries(value).flatMap(([name, member]) => [member].flat().map((each) => fieldOf(name, String(each))));

/** `-F` gives `@`, `<` and `;` a meaning, so a text with one of them needs `--form-string`. */
const fieldOf = (name: string, text: string): string => {
  if (isFileName(text)) return `-F ${quoted(`${name}=@${text}`)}`;
  return `${/^[@<]|;/.test(text) ? '--form-string' : '-F'} ${quoted(`${name}=${text}`)}`;
};

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
