import { type EnvironmentName, environments } from '../../lib/environments.ts';
import type { Outputs } from './read-outputs.ts';

/** Where it is, and what only a person can do about it. */
export const toNextSteps = (name: EnvironmentName, outputs: Outputs): string => {
  const { region, alarmAddresses } = environments[name];
  const cli = 'npm run cli -- ';
  const put = (secret: string, file: string): string =>
    `   aws secretsmanager put-secret-value --region ${region} --secret-id ${secret} --secret-string file://${file}`;
  return [
    ...toAddresses(outputs),
    '',
    'What is still to be done, if it has not been:',
    '1. The keys of the vendors: a file with one JSON object, {"OPENAI_API_KEY": "...", "ANTHROPIC_API_KEY": "..."}',
    put(outputs.providerKeysSecret, 'provider-keys.json'),
    '2. A bot, if there is to be one: a file with its token',
    put(outputs.botTokenSecret, 'bot-token.txt'),
    `   ${cli}bot setup --env ${name}`,
    '3. A first account with a key and money, unless people begin with the bot:',
    `   ${cli}keys issue first --create --reason 'first account' --env ${name}`,
    `   ${cli}accounts credit first --amount 10 --ref first-credit --reason 'first account' --env ${name}`,
    '4. Whether all is well:',
    `   ${cli}doctor --env ${name}`,
    alarmAddresses.length === 0
      ? '5. Nobody is written to when an alarm goes off: alarmAddresses in lib/environments.ts'
      : `5. Each of ${alarmAddresses.join(', ')} has to confirm the subscription once, in the mail that AWS has sent`,
    '',
  ].join('\n');
};

const toAddresses = ({ publicUrl, urls }: Outputs): readonly string[] => {
  if (publicUrl !== undefined) {
    const url = publicUrl.replace(/\/+$/, '');
    return [`Base URL  ${url}`, `          ${url}/v1 for clients of OpenAI's API`];
  }
  const width = Math.max(0, ...Object.keys(urls).map((output) => output.length));
  return [
    'Nothing stands before the functions. Each has an address of its own:',
    ...Object.entries(urls).map(([output, url]) => `${output.padEnd(width)}  ${url}`),
  ];
};
