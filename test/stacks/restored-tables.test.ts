import { expect, test } from 'vitest';
import { functionNames } from '../../lib/functions.ts';
import { permissionsOf } from './permissions.ts';
import { environmentOf, newApp, ofType, readGateway, synthesize } from './synthesize.ts';

const streamArn = 'arn:aws:dynamodb:us-east-1:123456789012:table/accounts-2/stream/2026-11-26T18:00:00.000';
const environment = {
  ...environmentOf('prod', 'with usage events'),
  restored: { accounts: { table: 'accounts-2', streamArn }, videos: 'videos-2' },
};
const { data, video, api } = readGateway(newApp(), 'prod', environment);
const settingsOf = (resources: typeof api) =>
  ofType(resources, 'AWS::Lambda::Function').flatMap(({ Properties }) => {
    const { Variables } = Object(Properties.Environment);
    return Variables?.ACCOUNTS_TABLE === undefined ? [] : [Variables];
  });

test('OPS-16 all functions use the restored tables, and the stack keeps the old ones', () => {
  const all = [...settingsOf(api), ...settingsOf(video)];
  expect(all.length).toBeGreaterThanOrEqual(14);
  for (const { ACCOUNTS_TABLE, VIDEOS_TABLE, KEYS_TABLE } of all)
    expect([ACCOUNTS_TABLE, VIDEOS_TABLE, typeof KEYS_TABLE]).toEqual(['accounts-2', 'videos-2', 'object']);
  expect(ofType(data, 'AWS::DynamoDB::GlobalTable')).toHaveLength(5);
});

test('OPS-16 permissions name the restored tables and no replaced one', () => {
  for (const name of functionNames) {
    const own = name === 'videoSteps' ? video : api;
    const granted = permissionsOf(name, own, [data, video]).filter((each) => each.startsWith('dynamodb:'));
    expect(
      granted.filter((each) => /\b(accounts|videos)-table/.test(each)),
      name,
    ).toEqual([]);
  }
  expect(permissionsOf('sweep', api, [data]).join('\n')).toMatch(/dynamodb:Query \S+table\/accounts-2\/index\/sweep/);
});

test('OPS-16, OPS-20 notifications and usage events follow the stream of the restored table', () => {
  const mappings = ofType(api, 'AWS::Lambda::EventSourceMapping');
  expect(mappings.map(({ Properties }) => Properties.EventSourceArn)).toEqual([streamArn, streamArn]);
});

test('OPS-16 the outputs, which the command line reads, name the restored tables', () => {
  expect(data.outputs.accountsTableName?.Value).toBe('accounts-2');
  expect(data.outputs.videosTableName?.Value).toBe('videos-2');
  expect(data.outputs.keysTableName).toEqual(synthesize('prod').data.outputs.keysTableName);
});
