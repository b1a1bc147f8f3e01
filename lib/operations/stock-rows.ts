import { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import type { IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import {
  ApiGatewayMonitoring,
  CloudFrontDistributionMonitoring,
  DynamoTableMonitoring,
  LambdaFunctionMonitoring,
  MonitoringFacade,
  StepFunctionMonitoring,
} from 'cdk-monitoring-constructs';
import type { Construct } from 'constructs';

/** Standard widgets for AWS's own metrics. */
export class StockRows {
  readonly #scope: MonitoringFacade;

  constructor(scope: Construct, id: string) {
    this.#scope = new MonitoringFacade(scope, id, {
      // Do not add the widgets to dashboards of the library.
      dashboardFactory: { addDynamicSegment: () => undefined, getDashboard: () => undefined },
    });
  }

  lambda(name: string, lambdaFunction: LambdaFunction): IWidget[] {
    return new LambdaFunctionMonitoring(this.#scope, {
      lambdaFunction,
      humanReadableName: name,
      isIterator: false,
    }).widgets();
  }

  table(name: string, table: ITableV2): IWidget[] {
    return new DynamoTableMonitoring(this.#scope, { table, humanReadableName: name }).widgets();
  }

  machine(stateMachine: StateMachine): IWidget[] {
    return new StepFunctionMonitoring(this.#scope, {
      stateMachine,
      humanReadableName: 'video state machine',
    }).widgets();
  }

  distribution(distributionId: string): IWidget[] {
    const distribution = Distribution.fromDistributionAttributes(this.#scope, 'distribution', {
      distributionId,
      domainName: 'unused',
    });
    return new CloudFrontDistributionMonitoring(this.#scope, {
      distribution,
      humanReadableName: 'CloudFront',
      // These metrics cost extra.
      additionalMetricsEnabled: false,
    }).widgets();
  }

  restApi(restApiName: string, stage: string): IWidget[] {
    const api = RestApi.fromRestApiAttributes(this.#scope, 'api', {
      restApiName,
      restApiId: 'unused',
      rootResourceId: 'unused',
    });
    return new ApiGatewayMonitoring(this.#scope, { api, apiStage: stage, humanReadableName: 'API Gateway' }).widgets();
  }
}
