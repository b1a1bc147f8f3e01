import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { environments } from '../../lib/environments.ts';
import { addGateway } from '../../lib/gateway.ts';
import { newApp } from './synthesize.ts';

const environment = { ...environments.prod, region: 'eu-west-1' };
const { accessLogs } = addGateway(newApp({ bundling: false }), 'prod', environment);
if (!accessLogs) throw new Error('there are no access logs');
const template = Template.fromStack(accessLogs);

test('OPS-1 the access log of the edge is delivered from us-east-1, wherever the rest stands, and is kept as long as others', () => {
  expect(accessLogs.region).toBe('us-east-1');
  template.hasResourceProperties('AWS::Logs::DeliverySource', { LogType: 'ACCESS_LOGS' });
  template.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: environment.logRetentionDays });
  expect(JSON.stringify(template.findResources('AWS::Logs::DeliverySource'))).toContain(':distribution/');
});

test('ERR-5 nothing in it may hold a key or the name of an image: no query, no cookie, no referrer, no path', () => {
  const schema = z.object({ Properties: z.object({ RecordFields: z.array(z.string()) }) });
  const [delivery, ...others] = Object.values(template.findResources('AWS::Logs::Delivery')).map((one) =>
    schema.parse(one),
  );
  expect(others).toEqual([]);
  const fields = delivery!.Properties.RecordFields;
  expect(fields).toEqual(expect.arrayContaining(['cs-method', 'sc-status', 'x-edge-request-id']));
  for (const field of fields) expect(field).not.toMatch(/query|cookie|referer|forwarded|uri|path/i);
});
