import { lookup as systemLookup } from 'node:dns';
import type { FunctionDependencies } from '../lambdas/functions/wiring/dependencies.ts';
import type { LookupAll, Reach } from '../lambdas/providers/public-address.ts';
import { createWebhookSender, URL_CHARACTERS_MAX, webhookUrlProblem } from '../lambdas/providers/webhook.ts';
import { INBOX_PATH } from './page/ui/wire.ts';

export type LocalWebhooks = Required<Pick<FunctionDependencies, 'sendWebhook' | 'checkWebhookUrl'>>;

export interface LocalWebhookOptions {
  /** Base URL of this program, whose inbox always receives webhooks. */
  readonly url: string;
  /** Whether webhooks can also go to other ports of this machine. */
  readonly allowsOtherPorts: boolean;
  readonly now: () => number;
  /** Resolves public names. */
  readonly lookup?: LookupAll;
}

/** Hosts as the URL parser writes them: `127.1` and `2130706433` become `127.0.0.1`. */
const machineHosts: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Literal forms only. They have no user name, and no character that the URL parser would drop. */
const machineUrl = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?(?:[/?#]|$)/i;

const machineAddresses = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const machine: Reach = {
  address: (address) => machineAddresses.some((one) => one.address === address),
  port: () => true,
};

/** Resolves `localhost` without DNS: https://www.rfc-editor.org/rfc/rfc6761#section-6.3 */
const lookupMachine: LookupAll = (hostname, _options, answer) =>
  hostname.toLowerCase() === 'localhost'
    ? answer(null, machineAddresses)
    : answer(new Error('Only localhost is on this machine.'), []);

/**
 * Webhooks of the development program (HOOK-4). Accepts the URL of its own inbox and, if allowed, loopback http URLs of
 * other ports. Every other URL keeps the rules of VID-7. Only `local` has this code, so AWS cannot allow such URLs.
 */
export const createLocalWebhooks = (options: LocalWebhookOptions): LocalWebhooks => {
  const { url, allowsOtherPorts, now, lookup = systemLookup } = options;
  const ownPort = portOf(new URL(url));
  const inbox = `${url}${INBOX_PATH}`;
  const isAllowed = (text: string): boolean => {
    const parsed = URL.parse(text);
    if (!parsed || text.length > URL_CHARACTERS_MAX || !machineUrl.test(text)) return false;
    return portOf(parsed) === ownPort ? parsed.pathname === INBOX_PATH : allowsOtherPorts;
  };
  const problemOnMachine = (parsed: URL): string => {
    if (portOf(parsed) === ownPort) return `this port accepts webhooks at one URL only. Use ${inbox}.`;
    return allowsOtherPorts
      ? 'this form of a URL on this machine is not allowed. Use http://127.0.0.1, http://localhost or http://[::1] with a port.'
      : `the URL is on this machine. Start the gateway with LOCAL_WEBHOOKS=on, or use ${inbox}.`;
  };
  const toPublic = createWebhookSender({ lookup, now });
  const toMachine = createWebhookSender({ lookup: lookupMachine, now, reach: machine });
  return {
    checkWebhookUrl(text) {
      if (isAllowed(text)) return undefined;
      const problem = webhookUrlProblem(text);
      const parsed = URL.parse(text);
      const isOnMachine = parsed !== null && text.length <= URL_CHARACTERS_MAX && machineHosts.has(parsed.hostname);
      return problem !== undefined && isOnMachine ? problemOnMachine(parsed) : problem;
    },
    sendWebhook: (delivery) => (isAllowed(delivery.url) ? toMachine(delivery) : toPublic(delivery)),
  };
};

const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');
