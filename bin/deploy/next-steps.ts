import type { Environment } from '../../lib/environments.ts';
import { severities } from '../../lib/operations/alarm-row.ts';
import { hasTarget } from '../../lib/operations/alarm-targets.ts';
import { CONFIG_FILE, environmentOf } from '../config.ts';
import type { Outputs } from './read-outputs.ts';

/** Returns the URL of the gateway and the steps that an operator must take by hand. */
export const toNextSteps = (name: string, outputs: Outputs): string => {
  const { region } = environmentOf(name);
  const cli = 'npm run cli -- ';
  const put = (secret: string, file: string): string =>
    `   aws secretsmanager put-secret-value --region ${region} --secret-id ${secret} --secret-string file://${file}`;
  return [
    ...toAddresses(outputs),
    '',
    'Next steps, unless already done:',
    '1. Store the provider keys: a file with one JSON object, {"OPENAI_API_KEY": "...", "ANTHROPIC_API_KEY": "..."}',
    put(outputs.providerKeysSecret, 'provider-keys.json'),
    '2. For a bot, store its token (in a file) and register the webhook:',
    put(outputs.botTokenSecret, 'bot-token.txt'),
    `   ${cli}bot setup --env ${name}`,
    '3. Create a first account with an API key and money, unless users start with the bot:',
    `   ${cli}keys issue first --create --reason 'first account' --env ${name}`,
    `   ${cli}accounts credit first --amount 10 --ref first-credit --reason 'first account' --env ${name}`,
    '4. Check the environment:',
    `   ${cli}doctor --env ${name}`,
    `   npm run check:deployed -- ${name} --stream`,
    `5. ${alarmStep(environmentOf(name))}`,
    '',
  ].join('\n');
};

/** Returns what an operator must do about the recipients of alarms, in one sentence or two. */
export const alarmStep = ({ alarms, alarmActions }: Pick<Environment, 'alarms' | 'alarmActions'>): string => {
  const silent = severities.filter((severity) => !hasTarget(alarms[severity]));
  if (silent.length > 0) {
    const fields = silent.map((severity) => `alarms.${severity}`).join(' and ');
    return `Alarms have no recipient in ${fields}. Set one in ${CONFIG_FILE}.`;
  }
  if (!alarmActions)
    return `Alarms do not notify yet. After the first check has passed, set alarmActions: true in ${CONFIG_FILE} and deploy again.`;
  const addresses = new Set(severities.flatMap((severity) => alarms[severity].mail));
  return addresses.size === 0
    ? 'Alarms notify their recipients.'
    : `Confirm each alarm subscription by the link in the email from AWS: ${[...addresses].join(', ')}`;
};

const toAddresses = ({ publicUrl, urls }: Outputs): readonly string[] => {
  if (publicUrl !== undefined) {
    const url = publicUrl.replace(/\/+$/, '');
    return [`Base URL  ${url}`, `          ${url}/v1 for OpenAI clients`];
  }
  const width = Math.max(0, ...Object.keys(urls).map((output) => output.length));
  return [
    'There is no front door. Each function has its own URL:',
    ...Object.entries(urls).map(([output, url]) => `${output.padEnd(width)}  ${url}`),
  ];
};
