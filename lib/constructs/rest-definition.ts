import { Aws } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { HttpFunction } from '../../lambdas/routes.ts';
import { type RestPath, toRestPaths } from './rest-paths.ts';

export interface Called {
  /** Function or alias. */
  readonly lambda: IFunction;
  readonly timeoutSeconds: number;
}

/**
 * Returns the REST API as OpenAPI with AWS extensions, which is one resource. Separate resources for its paths would
 * use half of a stack's resource limit.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-streaming-lambda-configure.html
 */
export const toRestDefinition = (title: string, calledOf: (name: HttpFunction) => Called) => ({
  openapi: '3.0.1',
  info: { title, version: '1' },
  paths: Object.fromEntries([...toRestPaths()].map(([path, restPath]) => [path, toMethods(path, restPath, calledOf)])),
});

const toMethods = (path: string, { any, methods }: RestPath, calledOf: (name: HttpFunction) => Called) => {
  const parameters = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const toMethod = (name: HttpFunction) => ({
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {},
    'x-amazon-apigateway-integration': toIntegration(calledOf(name)),
  });
  return {
    'x-amazon-apigateway-any-method': toMethod(any),
    ...Object.fromEntries([...methods].map(([method, name]) => [method.toLowerCase(), toMethod(name)])),
  };
};

/**
 * Streams the response, which may then take 15 minutes, as long as a function. Otherwise, API Gateway stops after 29 s.
 */
const toIntegration = ({ lambda, timeoutSeconds }: Called) => ({
  type: 'aws_proxy',
  httpMethod: 'POST',
  uri: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2021-11-15/functions/${lambda.functionArn}/response-streaming-invocations`,
  responseTransferMode: 'STREAM',
  timeoutInMillis: timeoutSeconds * 1_000,
});
