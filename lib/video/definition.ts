import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import type { Settings } from '../../lambdas/settings.ts';

/** The one definition: deployed as it is, run on this machine, and read by the tests. */
export const definitionPath = join(import.meta.dirname, 'video.asl');

export interface Substitutions {
  readonly StepFunctionArn: string;
  /** Whole numbers, all of them. They stand in the file without quotes, so that it is JSON only when they are in. */
  readonly FirstWaitSeconds: string;
  readonly LimitSeconds: string;
  /** Of an execution as a whole. Nothing that an execution does counts once the hold has been released. */
  readonly HoldSeconds: string;
  readonly RetrySeconds: string;
  readonly WebhookRetrySeconds: string;
}

export interface DefinitionSource {
  /** Of the function that does the steps. */
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
 * The definition as CloudFormation makes it: the text with its placeholders replaced, then parsed. Throws an Error for a placeholder
 * without a value, and for whatever is not JSONPath: the engine that runs it on this machine would pass over that in silence.
 */
export const readDefinition = (
  substitutions: Substitutions,
  text = readFileSync(definitionPath, 'utf8'),
): StateMachineDefinition => {
  const values = new Map<string, string>(Object.entries(substitutions));
  const filled = text.replaceAll(/\$\{([^}]*)\}/g, (placeholder, name: string) => values.get(name) ?? placeholder);
  const left = /\$\{[^}]*\}/.exec(filled);
  if (left) throw new Error(`The state machine has no value for ${left[0]}`);
  const definition: StateMachineDefinition = JSON.parse(filled);
  refuseJsonata(definition);
  return definition;
};

/** https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html, and variables, which the local engine lacks too. */
const jsonataFields: ReadonlySet<string> = new Set(['Arguments', 'Assign', 'Condition', 'Items', 'Output']);

const refuseJsonata = (value: unknown): void => {
  if (typeof value === 'string' && value.includes('{%')) throw new Error(`The state machine has JSONata in ${value}`);
  if (typeof value !== 'object' || value === null) return;
  for (const [field, content] of Object.entries(value)) {
    if (field === 'QueryLanguage' && content !== 'JSONPath')
      throw new Error(`The state machine has the query language ${content}; it has to be JSONPath`);
    if (jsonataFields.has(field)) throw new Error(`The state machine has the field ${field}, which is not of JSONPath`);
    refuseJsonata(content);
  }
};
