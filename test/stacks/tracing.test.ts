import { expect, test } from 'vitest';
import * as z from 'zod';
import { parseEnvironment } from '../../lib/environments.ts';
import { permissionsOf } from './permissions.ts';
import { environmentOf, newApp, ofType, readGateway } from './synthesize.ts';

const layerArn = 'arn:aws:lambda:us-east-1:901920570463:layer:aws-otel-collector-arm64-ver-1:1';
const spans = ['xray:PutSpans *', 'xray:PutSpansForIndexing *'];
const variablesSchema = z.object({ Variables: z.record(z.string(), z.unknown()) });

const withTracing = (tracing: object | undefined) => {
  const environment = parseEnvironment({ ...environmentOf('dev'), tracing });
  const { data, video, api } = readGateway(newApp(), 'dev', environment);
  const functions = new Map(
    ofType(api, 'AWS::Lambda::Function').map(({ Properties }) => [
      String(Properties.FunctionName).replace('gateway-dev-', ''),
      Properties,
    ]),
  );
  const telemetryIn = (variables: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => name.startsWith('OTEL_')));
  return {
    layersOf: (name: string) => functions.get(name)?.Layers,
    settingsOf: (name: string) => telemetryIn(variablesSchema.parse(functions.get(name)?.Environment).Variables),
    permissionsOf: (name: string) => permissionsOf(name, api, [data, video]).filter((each) => spans.includes(each)),
    webFunctions: JSON.stringify(ofType(api, 'AWS::Lambda::WebFunctionRevision').map(({ Properties }) => Properties)),
  };
};

test('OPS-19 without the setting no function exports traces or may write spans', () => {
  const stack = withTracing(undefined);
  for (const name of ['text', 'images', 'catalog', 'sweep']) {
    expect(stack.settingsOf(name)).toEqual({});
    expect(stack.layersOf(name)).toBeUndefined();
    expect(stack.permissionsOf(name)).toEqual([]);
  }
  expect(stack.webFunctions).not.toContain('OTEL_');
});

test('OPS-19 the functions of clients send their spans to X-Ray, and only they may', () => {
  const stack = withTracing({ kind: 'xray', sampling: 0.25 });
  for (const name of ['text', 'images', 'catalog']) {
    expect(stack.settingsOf(name)).toEqual({
      OTEL_SERVICE_NAME: 'gateway-dev',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://xray.us-east-1.amazonaws.com/v1/traces',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    expect(stack.permissionsOf(name)).toEqual(spans);
    expect(stack.layersOf(name)).toBeUndefined();
  }
  expect(stack.permissionsOf('inference')).toEqual(spans);
  expect(stack.webFunctions).toContain('https://xray.us-east-1.amazonaws.com/v1/traces');
  expect(stack.permissionsOf('sweep')).toEqual([]);
  expect(stack.settingsOf('sweep')).toEqual({});
});

test('OPS-19 a layer has the collector of the functions, and Web Functions export nothing', () => {
  const stack = withTracing({ kind: 'layer', layerArn });
  expect(stack.layersOf('text')).toEqual([layerArn]);
  expect(stack.settingsOf('text')).toEqual({
    OTEL_SERVICE_NAME: 'gateway-dev',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  });
  expect(stack.permissionsOf('text')).toEqual([]);
  expect(stack.layersOf('sweep')).toBeUndefined();
  expect(stack.webFunctions).not.toContain('OTEL_');
});

test('OPS-19 an endpoint of the operator is the base URL of the functions', () => {
  const stack = withTracing({ kind: 'otlp', endpoint: 'https://collector.example' });
  expect(stack.settingsOf('text')).toMatchObject({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example' });
  expect(stack.webFunctions).toContain('https://collector.example');
});
