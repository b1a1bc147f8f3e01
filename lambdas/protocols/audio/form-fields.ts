import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { Form, FormFile } from '../../http/exchange.ts';
import { shownName } from '../parse.ts';

/** The one file of a form. Throws the 400 that says what stands in its place. */
export const onlyFile = ({ files, fields }: Form, name: string): FormFile => {
  const stray = files.find(({ field }) => field !== name);
  if (stray) throw refuse(shownName(stray.field), `no file is taken here. Send the recording as "${name}".`);
  const [file, second] = files;
  if (second) throw refuse(name, 'was sent more than once. Send one file.');
  if (file) return file;
  const asText = fields.some((field) => field.name === name);
  throw refuse(name, asText ? 'is text. Send it as a file, with a file name.' : 'is missing. Send the recording.');
};

/** The fields that are text, by name; each of them once. Throws the 400 that names the first one in the way. */
export const textFields = <Name extends string>(
  { fields }: Form,
  names: readonly Name[],
): ReadonlyMap<Name, string> => {
  const found = new Map<Name, string>();
  for (const { name: sent, value } of fields) {
    const name = names.find((known) => known === sent);
    if (name === undefined) throw refuse(shownName(sent), 'this field is not supported here. Leave it out.');
    if (found.has(name)) throw refuse(name, 'was sent more than once.');
    found.set(name, value);
  }
  return found;
};

export const refuse = (param: string, problem: string): GatewayError => invalidRequest(param, `${param}: ${problem}`);
