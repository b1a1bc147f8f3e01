import type { ApiError } from './api.ts';
import { problemText } from './problem.tsx';
import type { Texts } from './texts/en.ts';

/** Returns the text of a failed change of an API key, with what the user can do. */
export const keyProblem = (error: ApiError, texts: Texts): string => {
  const { keys } = texts;
  if (error.code === 'key_changed') return keys.changedMeanwhile;
  if (error.status === 401) return keys.openAgain;
  if (error.status === 404) return keys.gone;
  if (error.status === 400) return keys.refused(fieldName(error.param, keys.fields), withoutField(error.message));
  // Rejected before anything changed.
  if (error.status === 429 || error.status === 403) return problemText(error, texts);
  return keys.unsure;
};

const fieldName = (param: string | undefined, names: Readonly<Record<string, string>>): string | undefined =>
  param === undefined ? undefined : names[param.replace(/\[\d+\]$/, '')];

/** The messages of the gateway start with the name of the field in the API, which the form does not show. */
const withoutField = (message: string): string => message.replace(/^[a-z_]+(\[\d+\])?: /, '');

/** Whether the form no longer shows the present key, so that the list must be loaded again. */
export const isOutdated = ({ status }: ApiError): boolean => status === 409 || status === 404 || status >= 500;
