import { readFileSync } from 'node:fs';
import { StateMachine } from 'aws-local-stepfunctions';
import { expect, test } from 'vitest';
import { PAUSED_ERROR } from '../../../lambdas/functions/wiring/video-steps-handler.ts';
import { environments } from '../../../lib/environments.ts';
import { definitionPath, readDefinition, toSubstitutions } from '../../../lib/video/definition.ts';

const stepFunctionArn = 'arn:aws:lambda:eu-central-1:123456789012:function:steps';
const substitutions = toSubstitutions({ stepFunctionArn, settings: environments.prod.videos });
const text = readFileSync(definitionPath, 'utf8');
const definition = readDefinition(substitutions);
const states = Object.entries(definition.States);
const tasks = states.flatMap(([name, state]) => (state.Type === 'Task' ? [{ name, state }] : []));

test('VID-5 the local engine accepts the definition', () => {
  expect(() => new StateMachine(definition)).not.toThrow();
});

test('VID-5 every substitution has a placeholder, and every placeholder has a value', () => {
  const places = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
  expect([...new Set(places)].sort()).toEqual(Object.keys(substitutions).sort());
  expect(substitutions).toEqual({
    StepFunctionArn: stepFunctionArn,
    FirstWaitSeconds: '10',
    LimitSeconds: '3600',
    HoldSeconds: '7200',
    RetrySeconds: '2',
    WebhookRetrySeconds: '10',
  });
});

test('VID-7 the limit of 60 minutes is a choice in the loop, so a late video fails', () => {
  // Only an execution that cannot poll its video times out, together with the hold.
  expect(definition.TimeoutSeconds).toBe(7_200);
  expect(definition.States.Choose).toMatchObject({
    Type: 'Choice',
    Choices: expect.arrayContaining([
      { Variable: '$.poll.elapsedSeconds', NumericGreaterThanEquals: 3_600, Next: 'Release' },
    ]),
    Default: 'Wait',
  });
});

test('VID-6 no step starts work at a provider, and each is a known step of the one function', () => {
  const called = tasks.map(({ name, state }) => [name, state.Resource, state.Parameters]);
  const stepOf = (name: string, step: string) => [name, stepFunctionArn, { step, 'videoId.$': '$.videoId' }];
  expect(called).toEqual([
    stepOf('Poll', 'poll'),
    stepOf('Store', 'store'),
    stepOf('Charge', 'charge'),
    stepOf('Finish', 'finish'),
    stepOf('Release', 'release'),
    stepOf('Notify', 'notify'),
  ]);
  expect(new Set(states.map(([, { Type }]) => Type))).toEqual(new Set(['Wait', 'Task', 'Choice', 'Succeed']));
});

test.for(tasks)('VID-7 $name is retried after any error, with growing waits and a limit', ({ state }) => {
  expect(state.Retry).toHaveLength(2);
  const retrier = state.Retry?.[1];
  expect(retrier).toMatchObject({ ErrorEquals: ['States.ALL'] });
  expect(retrier?.BackoffRate).toBeGreaterThanOrEqual(2);
  expect(retrier?.MaxAttempts).toBeGreaterThanOrEqual(4);
  expect(retrier?.MaxAttempts).toBeLessThanOrEqual(10);
  expect(retrier?.MaxDelaySeconds).toBeLessThanOrEqual(3_600);
  expect(retrier?.IntervalSeconds).toBe(
    state.Parameters && JSON.stringify(state.Parameters).includes('notify') ? 10 : 2,
  );
  // The local engine gives a step without a timeout one minute.
  expect(state.TimeoutSeconds).toBeLessThan(900);
});

test.for(tasks)('OPS-15 $name is repeated every minute while workers are paused', ({ state }) => {
  expect(state.Retry?.[0]).toEqual({
    ErrorEquals: [PAUSED_ERROR],
    IntervalSeconds: 60,
    BackoffRate: 1,
    MaxAttempts: 99_999_999,
  });
});

test('VID-7 a failed poll or release leads to a pause, other steps to the release', () => {
  const ways = tasks.map(({ name, state }) => [name, state.Catch]);
  const to = (Next: string) => [{ ErrorEquals: ['States.ALL'], ResultPath: null, Next }];
  expect(Object.fromEntries(ways)).toEqual({
    Poll: to('Pause'),
    Store: to('Release'),
    Charge: to('Release'),
    Finish: to('Release'),
    Release: to('Pause'),
    Notify: to('Done'),
  });
  expect(definition.States.Notify).toMatchObject({ Retry: [{}, { MaxAttempts: 4 }] });
});

test('VID-5 a definition with a placeholder without a value is rejected', () => {
  const unknown = text.replace('LimitSeconds', 'Limit');
  expect(unknown).not.toBe(text);
  expect(() => readDefinition(substitutions, unknown)).toThrow(`no value for $\{Limit}`);
  expect(() => readDefinition(substitutions, text.replace('LimitSeconds', ' '))).toThrow('no value');
});

test('VID-5 a value is inserted unchanged, whatever characters it contains', () => {
  const odd = { ...substitutions, StepFunctionArn: "arn:$&:$1:$'" };
  expect(readDefinition(odd).States.Poll).toMatchObject({ Resource: "arn:$&:$1:$'" });
});

test.for([
  ['a query language of the whole definition', '"QueryLanguage": "JSONPath"', '"QueryLanguage": "JSONata"'],
  ['a query language of one state', '"Type": "Succeed"', '"Type": "Succeed", "QueryLanguage": "JSONata"'],
  ['an expression', '"step": "poll"', '"step": "{% $states.input.step %}"'],
  ['Arguments', '"Parameters"', '"Arguments"'],
  ['Output', '"Type": "Succeed"', '"Type": "Succeed", "Output": "x"'],
  ['Assign', '"Type": "Succeed"', '"Type": "Succeed", "Assign": { "x": 1 }'],
  ['Condition', '"Variable": "$.ended.webhook", "BooleanEquals": true', '"Condition": "true"'],
] as const)('VID-5 a definition with %s of JSONata is rejected', ([, found, instead]) => {
  expect(text).toContain(found);
  expect(() => readDefinition(substitutions, text.replace(found, instead))).toThrow(/JSONata|JSONPath/);
});
