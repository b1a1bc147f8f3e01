import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, StreamViewType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { KeyAttribute, TableDescription } from '../tables.ts';

const types = { S: AttributeType.STRING, N: AttributeType.NUMBER } as const;

const toAttribute = ({ name, type }: KeyAttribute) => ({ name, type: types[type] });

export interface GatewayTableProps {
  readonly table: TableDescription;
  /** False for a disposable environment: the table's own deletion protection and retention are then ignored. */
  readonly keepsData: boolean;
}

/** Table according to `tables.ts`. CloudFormation chooses its name. */
export class GatewayTable extends TableV2 {
  constructor(scope: Construct, id: string, { table, keepsData }: GatewayTableProps) {
    super(scope, id, {
      partitionKey: toAttribute(table.partitionKey),
      sortKey: table.sortKey && toAttribute(table.sortKey),
      globalSecondaryIndexes: table.indexes.map((index) => ({
        indexName: index.name,
        partitionKey: toAttribute(index.partitionKey),
        sortKey: index.sortKey && toAttribute(index.sortKey),
        projectionType: index.projection === 'ALL' ? ProjectionType.ALL : ProjectionType.KEYS_ONLY,
      })),
      billing: Billing.onDemand(),
      timeToLiveAttribute: table.timeToLiveAttribute,
      dynamoStream: table.stream && StreamViewType[table.stream],
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: table.pointInTimeRecovery },
      deletionProtection: keepsData && table.deletionProtection,
      // RETAIN also applies to a failed first deployment: deletion protection would prevent the rollback from deleting
      // the table.
      removalPolicy: keepsData && table.removal === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }
}
