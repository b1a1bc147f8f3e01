import { invalidRequest } from '../core/errors/gateway-error.ts';
import type { Form } from '../http/exchange.ts';
import { shownName } from './parse.ts';

/**
 * Returns the form without empty texts, which Axios sends for `null`, and without files that have neither name nor bytes,
 * which browsers send for an empty file input.
 */
export const withoutEmpty = ({ fields, files }: Form): Form => ({
  fields: fields.filter(({ value }) => value !== ''),
  files: files.filter(({ fileName, bytes }) => fileName !== '' || bytes.length > 0),
});

/** Returns the name of a file field. Clients append brackets, or an index in brackets, to the name of a list. */
export const fileFieldOf = (name: string): string => name.replace(/\[\d{0,3}\]$/, '');

/** Whether a text means false. Python's clients send `False`, PHP's send `0`. */
export const isFalse = (text: string): boolean => /^(?:false|0)$/i.test(text);

interface FormFields {
  /** Names of the file fields, without brackets. */
  readonly files: readonly string[];
  /** Content of such a file, for the error message if text was sent instead. */
  readonly content: string;
  /** Whether the field takes text. A file in such a field is rejected with a separate error. */
  isText(name: string): boolean;
}

/**
 * Returns the text fields of a form by name; they are then checked like JSON. Throws the 400 for a repeated field, for
 * a file in a text field and for text in a file field.
 */
export const toTextFields = ({ fields, files }: Form, rules: FormFields): Record<string, string> => {
  const seen = new Map<string, string>();
  for (const { name, value } of fields) {
    const shown = shownName(name);
    // SDKs write the members of an object in brackets.
    const file = rules.files.find((each) => name === each || name.startsWith(`${each}[`));
    if (file) throw invalidRequest(shown, `${shown}: send the ${rules.content} as one file with the name ${file}.`);
    if (seen.has(name)) throw invalidRequest(shown, `${shown}: sent twice. Send it once.`);
    seen.set(name, value);
  }
  const other = files.find(({ field }) => !rules.files.includes(fileFieldOf(field)));
  if (!other) return Object.fromEntries(seen);
  const shown = shownName(other.field);
  const fix = rules.isText(other.field)
    ? 'must be text, not a file. Send it as text.'
    : `unknown file field. Send the file as "${rules.files[0]}".`;
  throw invalidRequest(shown, `${shown}: ${fix}`);
};
