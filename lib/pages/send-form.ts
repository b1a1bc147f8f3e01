import { type Description, examplesOf, type Operation, type Parameter } from './description.ts';
import { type Html, html } from './html.ts';

/** Credentials that a reader has: an API key. The script sends it as a bearer token, or in the header of the format. */
const keySchemes: Readonly<Record<string, string>> = {
  apiKey: 'authorization',
  messagesKey: 'x-api-key',
  providerKey: 'x-provider-api-key',
};

/** Returns the header that carries the API key, an empty string without one, and undefined for another credential. */
const keyHeaderOf = ({ security = [] }: Operation): string | undefined => {
  const schemes = security.flatMap((each) => Object.keys(each));
  if (schemes.length === 0) return '';
  const scheme = schemes.find((name) => name in keySchemes);
  return scheme === undefined ? undefined : keySchemes[scheme];
};

const isSendable = ({ requestBody }: Operation): boolean =>
  requestBody === undefined || requestBody.content['application/json'] !== undefined;

/** Headers that the form fills by itself. */
const ownHeaders = new Set(['authorization', 'x-api-key', 'x-provider-api-key', 'content-type', 'accept']);

const isShown = ({ in: place, name, required = false }: Parameter): boolean =>
  place !== 'header' || (required && !ownHeaders.has(name.toLowerCase()));

const input = ({ in: place, name, required = false, example, schema }: Parameter): Html => {
  const value = required ? (example ?? schema?.enum?.[0] ?? schema?.default ?? '') : '';
  return html`<label>${name}<input name="${place}:${name}" value="${String(value)}"${required && html` required`} /></label>`;
};

/**
 * Form that sends a request with a JSON body or without one. It is hidden until the script of the page runs. Routes with
 * forms, and those of the bot and the operator, have none.
 */
export const sendForm = (description: Description, operation: Operation): Html | undefined => {
  const keyHeader = keyHeaderOf(operation);
  if (keyHeader === undefined || !isSendable(operation)) return undefined;
  const { method, path, requestBody, parameters = [] } = operation;
  const json = requestBody?.content['application/json'];
  const [example] = json ? examplesOf(description, json) : [];
  return html`<details class="send" hidden><summary>Send a request</summary>
<form data-method="${method}" data-path="${path}" data-key="${keyHeader}">
${keyHeader !== '' && html`<label>API key<input name="key" type="password" autocomplete="off" required /></label>`}
${parameters.filter(isShown).map(input)}
${json && html`<label>Body<textarea name="body" rows="10" spellcheck="false">${JSON.stringify(example?.value ?? {}, null, 2)}</textarea></label>`}
<button type="submit">Send</button>
</form>
<div class="reply" role="status"></div></details>`;
};
