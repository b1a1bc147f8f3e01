import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import type { Settings } from '../../lambdas/settings.ts';

/** Path of the state machine definition, for deployments, the local gateway and the tests. */
export const definitionPath = join(import.meta.dirname, 'video.asl');

export interface Substitutions {
  readonly StepFunctionArn: string;
  /**
   * Whole number, like the other times. The placeholders of times have no quotes in the file, so the file is valid JSON
   * only after the substitution.
   */
  readonly FirstWaitSeconds: string;
  readonly LimitSeconds: string;
  /** Timeout of the whole execution. After the hold is released, no result of the execution counts. */
  readonly HoldSeconds: string;
  readonly RetrySeconds: string;
  readonly WebhookRetrySeconds: string;
}

export interface DefinitionSource {
  /** ARN of the function for the steps. */
  readonly stepFunctionArn: string;
  readonly settings: Pick<
    Settings,
    | 'VIDEO_POLL_SECONDS'
    | 'VIDEO_LIMIT_SECONDS'
    | 'VIDEO_HOLD_SECONDS'
    | 'VIDEO_RETRY_SECONDS'
    | 'VIDEO_WEBHOOK_RETRY_SECONDS'
  >;
}

export const toSubstitutions = ({ stepFunctionArn, settings }: DefinitionSource): Substitutions => ({
  StepFunctionArn: stepFunctionArn,
  FirstWaitSeconds: String(settings.VIDEO_POLL_SECONDS),
  LimitSeconds: String(settings.VIDEO_LIMIT_SECONDS),
  HoldSeconds: String(settings.VIDEO_HOLD_SECONDS),
  RetrySeconds: String(settings.VIDEO_RETRY_SECONDS),
  WebhookRetrySeconds: String(settings.VIDEO_WEBHOOK_RETRY_SECONDS),
});

/**
 * Reads the definition as CloudFormation does: substitutes the placeholders, then parses. Throws an Error for a
 * placeholder without a value and for anything other than JSONPath, because the local engine would ignore it silently.
 */
export const readDefinition = (
  substitutions: Substitutions,
  text = readFileSync(definitionPath, 'utf8'),
): StateMachineDefinition => {
  const values = new Map<string, string>(Object.entries(substitutions));
  const filled = text.replaceAll(/\$\{([^}]*)\}/g, (placeholder, name: string) => values.get(name) ?? placeholder);
  const left = /\$\{[^}]*\}/.exec(filled);
  if (left) throw new Error(`The state machine has no value for ${left[0]}.`);
  const definition: StateMachineDefinition = JSON.parse(filled);
  refuseJsonata(definition);
  return definition;
};

/**
 * Fields of JSONata and of variables, which the local engine does not support.
 * https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
 */
const jsonataFields: ReadonlySet<string> = new Set(['Arguments', 'Assign', 'Condition', 'Items', 'Output']);

const refuseJsonata = (value: unknown): void => {
  if (typeof value === 'string' && value.includes('{%'))
    throw new Error(`The state machine uses JSONata in ${value}. Use JSONPath.`);
  if (typeof value !== 'object' || value === null) return;
  for (const [field, content] of Object.entries(value)) {
    if (field === 'QueryLanguage' && content !== 'JSONPath')
      throw new Error(`The state machine uses the query language ${content}. Use JSONPath.`);
    if (jsonataFields.has(field))
      throw new Error(`The state machine uses the field ${field}, which JSONPath does not support.`);
    refuseJsonata(content);
  }
};
