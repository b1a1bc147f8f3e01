import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { Form, FormFile } from '../../http/exchange.ts';

/** The one file of a form. Throws the 400 that says what stands in its place. */
export const onlyFile = ({ files }: Form, name: string): FormFile => {
  const [file, second] = files;
  if (second) throw refuse(name, 'was sent more than once. Send one file.');
  if (file) return file;
  throw refuse(name, 'is missing. Send the recording.');
};

export const refuse = (param: string, problem: string): GatewayError => invalidRequest(param, `${param}: ${problem}`);
