import { invalidRequest } from '../core/errors/gateway-error.ts';
import type { Form } from '../http/exchange.ts';
import { shownName } from './parse.ts';

interface FormFields {
  /** The names that files come under. */
  readonly files: readonly string[];
  /** What such a file holds, to say so where text came in its place. */
  readonly content: string;
  /** A file under the name of a text is told that it is one. */
  isText(name: string): boolean;
}

/** The texts of a form by their names, which are checked as those of JSON are; none may come twice, and none may be a file. */
export const toTextFields = ({ fields, files }: Form, rules: FormFields): Record<string, string> => {
  const seen = new Map<string, string>();
  for (const { name, value } of fields) {
    const shown = shownName(name);
    // An SDK writes the members of an object in brackets.
    const file = rules.files.find((each) => name === each || name.startsWith(`${each}[`));
    if (file)
      throw invalidRequest(shown, `${shown}: send the ${rules.content} itself, as one file of the name ${file}.`);
    if (seen.has(name)) throw invalidRequest(shown, `${shown}: sent twice. Send it once.`);
    seen.set(name, value);
  }
  const other = files.find(({ field }) => !rules.files.includes(field));
  if (!other) return Object.fromEntries(seen);
  const shown = shownName(other.field);
  const fix = rules.isText(other.field)
    ? 'must be text, not a file.'
    : `no such file is taken here. A file is sent as "${rules.files[0]}".`;
  throw invalidRequest(shown, `${shown}: ${fix}`);
};
