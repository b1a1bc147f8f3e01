import { expect, test } from 'vitest';
import { alarmStep } from '../../../bin/deploy/next-steps.ts';
import { alarmTargets } from '../../../lib/operations/alarm-targets.ts';

const page = { https: ['https://pager.example/key'] };
const ticket = { mail: ['operators@example.com'] };

test.each([
  [{}, false, 'Alarms have no recipient in alarms.page and alarms.ticket. Set one in gateway.config.ts.'],
  [{ page }, false, 'Alarms have no recipient in alarms.ticket. Set one in gateway.config.ts.'],
  [{ page, ticket }, false, 'Alarms do not notify yet. After the first check has passed, set alarmActions: true'],
  [{ page, ticket }, true, 'Confirm each alarm subscription by the link in the email from AWS: operators@example.com'],
  [{ page, ticket: page }, true, 'Alarms notify their recipients.'],
])('OPS-3 with the recipients %j and actions %s the next step is: %s', (targets, alarmActions, sentence) => {
  expect(alarmStep({ alarms: alarmTargets.parse(targets), alarmActions })).toContain(sentence);
});
