import { type Mode, modeFacts } from './modes.ts';

/** Values of the form by field name. Absent: the model has no such field. */
export type FormFields = Readonly<Record<string, string | undefined>>;

export interface ApiRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns the request that an SDK would send for the form. An empty field is left out. */
export const buildRequest = (mode: Mode, model: string, fields: FormFields): ApiRequest => ({
  path: modeFacts[mode].path,
  body: { model, ...bodies[mode](fields) },
});

const sent = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

const toNumber = (value: string | undefined): number | undefined => (sent(value) ? Number(value) : undefined);

const bodies: Readonly<Record<Mode, (fields: FormFields) => object>> = {
  chat: ({ prompt, system, stream, temperature }) => ({
    messages: [...(system ? [{ role: 'system', content: system }] : []), { role: 'user', content: prompt }],
    stream: stream !== undefined,
    temperature: toNumber(temperature),
  }),
  responses: ({ prompt, system, stream, temperature }) => ({
    input: prompt,
    instructions: sent(system),
    stream: stream !== undefined,
    temperature: toNumber(temperature),
  }),
  images: ({ prompt, size }) => ({ prompt, size: sent(size) }),
  speech: ({ prompt, voice }) => ({ input: prompt, voice }),
  video: ({ prompt, size, seconds, webhook_url }) => ({
    prompt,
    size: sent(size),
    seconds: sent(seconds),
    webhook_url: sent(webhook_url),
  }),
};

/** Returns commands that send the request from a POSIX shell, with the variables of the guides. */
export const toCurl = (origin: string, key: string, { path, body }: ApiRequest): string => {
  const options = body.stream === true ? ' -N' : '';
  const output = path === modeFacts.speech.path ? ' \\\n  -o speech.mp3' : '';
  return `export GATEWAY_URL=${quote(origin)} GATEWAY_KEY=${quote(key)}
curl${options} "$GATEWAY_URL${path}" \\
  -H "authorization: Bearer $GATEWAY_KEY" \\
  -H 'content-type: application/json' \\
  -d ${quote(JSON.stringify(body))}${output}`;
};

/** A shell ends a quoted text at its first quote. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
