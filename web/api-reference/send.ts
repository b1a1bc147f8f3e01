import { addCopyButtons } from './copy.ts';

/** Headers of a response that its reader needs, such as its cost. */
const shownHeaders = /^(?:content-type|retry-after|x-request-id|x-service-.*|idempotent-replayed)$/;

/** Text types. A response of another type is shown as its size. */
const isText = (type: string): boolean => /json|text|event-stream/.test(type);

const urlOf = (path: string, values: FormData): string => {
  const query = new URLSearchParams();
  let url = path;
  for (const [name, value] of values) {
    if (typeof value !== 'string') continue;
    if (name.startsWith('path:')) url = url.replace(`{${name.slice(5)}}`, encodeURIComponent(value));
    else if (name.startsWith('query:') && value !== '') query.set(name.slice(6), value);
  }
  return query.size > 0 ? `${url}?${query}` : url;
};

const headersOf = (form: HTMLFormElement, values: FormData): Headers => {
  const headers = new Headers();
  const key = String(values.get('key') ?? '');
  const { key: header = '' } = form.dataset;
  if (header !== '') headers.set(header, header === 'authorization' ? `Bearer ${key}` : key);
  if (values.has('body')) headers.set('content-type', 'application/json');
  for (const [name, value] of values)
    if (name.startsWith('header:') && value !== '') headers.set(name.slice(7), String(value));
  return headers;
};

const codeIn = (reply: HTMLElement, label: string): HTMLElement => {
  const block = document.createElement('div');
  block.className = 'code';
  const bar = document.createElement('div');
  bar.className = 'bar';
  bar.append(Object.assign(document.createElement('span'), { textContent: label }));
  const pre = document.createElement('pre');
  pre.tabIndex = 0;
  const code = document.createElement('code');
  pre.append(code);
  block.append(bar, pre);
  reply.append(block);
  return code;
};

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Shows the text while it arrives. */
const showText = async (response: Response, code: HTMLElement): Promise<void> => {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    code.append(decoder.decode(value, { stream: true }));
  }
};

const showReply = async (response: Response, reply: HTMLElement): Promise<void> => {
  const headers = [...response.headers].filter(([name]) => shownHeaders.test(name));
  const head = document.createElement('p');
  head.textContent = `${response.status} ${response.statusText}`;
  reply.replaceChildren(head);
  codeIn(reply, 'Headers').textContent = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  const type = response.headers.get('content-type') ?? '';
  const code = codeIn(reply, 'Body');
  if (isText(type)) {
    await showText(response, code);
    if (type.includes('json')) code.textContent = indented(code.textContent);
  } else code.textContent = `${(await response.arrayBuffer()).byteLength} bytes of ${type}`;
  addCopyButtons(reply);
};

/** The key stays in the field. The request goes to the origin of the page. */
const send = async (form: HTMLFormElement, reply: HTMLElement): Promise<void> => {
  const values = new FormData(form);
  const { method = 'GET', path = '/' } = form.dataset;
  reply.textContent = 'Waiting for the response.';
  try {
    const body = values.get('body');
    const response = await fetch(urlOf(path, values), {
      method,
      headers: headersOf(form, values),
      credentials: 'omit',
      ...(typeof body === 'string' ? { body } : {}),
    });
    await showReply(response, reply);
  } catch (error) {
    reply.textContent = `The request failed: ${error instanceof Error ? error.message : error}`;
  }
};

/** Shows the forms that send requests. They need this script. */
export const startSending = (): void => {
  for (const details of document.querySelectorAll<HTMLElement>('.send')) {
    const form = details.querySelector('form');
    const reply = details.querySelector<HTMLElement>('.reply');
    if (!form || !reply) continue;
    details.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void send(form, reply);
    });
  }
};
