import { expect, test } from 'vitest';
import { nameOf, ofType, pointsAt, type Synthesized, synthesize } from '../../stacks/synthesize.ts';

const created = synthesize('prod', 'api-gateway in a new VPC');
const existing = synthesize('prod', 'cloudfront in a VPC of the owner');

const networkOf = ({ network }: typeof created): Synthesized => {
  if (!network) throw new Error('there is no stack for the network');
  return network;
};

/** Returns the names of the functions in a VPC, with the subnets and security groups of each. */
const functionsIn = (stacks: readonly Synthesized[], others: readonly Synthesized[]) =>
  new Map(
    stacks.flatMap((stack) =>
      ofType(stack, 'AWS::Lambda::Function').flatMap((resource) => {
        const { VpcConfig: config } = resource.Properties;
        if (!config || typeof config !== 'object') return [];
        const ids = Object.values(config).flat();
        return [[nameOf(resource).split('/')[0], ids.map((id) => pointsAt(id, stack, others)).toSorted()] as const];
      }),
    ),
  );

test('OPS-18 only the functions that call providers are in the created VPC, in its private subnets', () => {
  const functions = functionsIn([created.api, created.video], [networkOf(created)]);
  expect([...functions.keys()].toSorted()).toEqual(['audio', 'images', 'text', 'videoSteps', 'videos']);
  for (const [name, ids] of functions)
    expect(ids, name).toEqual(
      ['functions', 'vpc/privateSubnet1', 'vpc/privateSubnet2'].map((id) => expect.stringContaining(id)),
    );
});

test('OPS-18 each NAT gateway has an address that outlives the stack, and an output', () => {
  const network = networkOf(created);
  const addresses = ofType(network, 'AWS::EC2::EIP');
  expect(addresses.map(({ DeletionPolicy, UpdateReplacePolicy }) => [DeletionPolicy, UpdateReplacePolicy])).toEqual([
    ['RetainExceptOnCreate', 'Retain'],
    ['RetainExceptOnCreate', 'Retain'],
  ]);
  const allocations = ofType(network, 'AWS::EC2::NatGateway').map(({ Properties }) => Properties.AllocationId);
  expect(allocations).toEqual([1, 2].map((each) => ({ 'Fn::GetAtt': [`address${each}`, 'AllocationId'] })));
  expect([network.outputs.egressAddress1, network.outputs.egressAddress2]).toEqual(
    [1, 2].map((each) => ({ Value: { 'Fn::GetAtt': [`address${each}`, 'PublicIp'] } })),
  );
});

test('OPS-18 DynamoDB and S3 have gateway endpoints in the created VPC', () => {
  const endpoints = ofType(networkOf(created), 'AWS::EC2::VPCEndpoint');
  expect(endpoints.map(({ Properties }) => Properties.VpcEndpointType)).toEqual(['Gateway', 'Gateway']);
  expect(JSON.stringify(endpoints)).toMatch(/\.dynamodb".*\.s3"/);
});

test('OPS-18 behind CloudFront the Web Function and the video steps use the VPC of the owner', () => {
  expect(existing.network).toBeUndefined();
  const ids = ['sg-0a1b2c3d4e5f60718', 'subnet-0a1b2c3d4e5f60718', 'subnet-0a1b2c3d4e5f60719'];
  expect([...functionsIn([existing.api, existing.video], [])]).toEqual([['videoSteps', ids]]);
  const connectors = ofType(existing.api, 'AWS::Lambda::NetworkConnector');
  expect(connectors.map(nameOf)).toEqual(['inference/network']);
  expect(connectors[0]?.Properties.Configuration).toEqual({
    VpcEgressConfiguration: {
      AssociatedComputeResourceTypes: ['WebFunction'],
      NetworkProtocol: 'IPv4',
      SecurityGroupIds: ids.slice(0, 1),
      SubnetIds: ids.slice(1),
    },
  });
});

test('OPS-18 a function in a VPC may not use the rights by which Lambda manages its network interfaces', () => {
  const statements = ofType(created.video, 'AWS::IAM::Policy').flatMap(({ Properties }) =>
    JSON.stringify(Properties).includes('ec2:') ? [Properties.PolicyDocument] : [],
  );
  expect(statements).toEqual([
    expect.objectContaining({
      Statement: expect.arrayContaining([
        expect.objectContaining({
          Effect: 'Deny',
          Action: expect.arrayContaining(['ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface']),
          Condition: { ArnEquals: { 'lambda:SourceFunctionArn': expect.anything() } },
        }),
      ]),
    }),
  ]);
});

test('OPS-18 without the option no function is in a VPC', () => {
  const { api, video, network } = synthesize('prod');
  expect(network).toBeUndefined();
  expect(functionsIn([api, video], []).size).toBe(0);
});
