import { invalidRequest } from '../core/errors/gateway-error.ts';

/**
 * AUTH-2: the gateway's own header, and the vendor's, so that its SDKs work unchanged. Those send the later version, which only
 * refuses more: sampling fields, documents of the assistant and citations of the user. The vendor is always asked in the first.
 * https://platform.claude.com/docs/en/api/migration-2026-10-21
 */
const served: Readonly<Record<string, readonly string[]>> = {
  'provider-version': ['2023-06-01'],
  'anthropic-version': ['2023-06-01', '2026-10-21'],
};

type Headers = Readonly<Record<string, string | undefined>>;

/** At least one of the headers, and none that asks for another version. */
export const requireMessagesVersion = (headers: Headers): void => {
  const sent = Object.entries(served).filter(([name]) => headers[name] !== undefined);
  const checked = sent.length > 0 ? sent : Object.entries(served).slice(0, 1);
  for (const [name, versions] of checked) {
    if (versions.includes(headers[name]?.trim() ?? '')) continue;
    const problem = headers[name] === undefined ? 'is missing; send it with the value' : 'must be';
    throw invalidRequest(name, `${name}: ${problem} ${versions.join(' or ')}.`);
  }
};
