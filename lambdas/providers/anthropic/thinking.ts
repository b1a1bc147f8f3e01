import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Conversation } from '../../core/text/conversation.ts';

/** The least the vendor takes: https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
const BUDGET_MIN = 1_024;

/** The field for a cap, of which a budget is a part. */
export type Thinking = (outputTokensMax: number) => JsonObject;

/** Steps of OpenAI's below the lowest that the vendor has. */
const offSteps: readonly (string | undefined)[] = ['none', 'minimal'];

export const lowestIfOff = (effort: string | undefined): string | undefined =>
  offSteps.includes(effort) ? 'low' : effort;

/** MSG-3 for clients of another protocol. A cap of the client's own that is too small is refused at once. */
export const thinkingFor = (
  { thinking: wanted, turns, effort }: Pick<Conversation, 'thinking' | 'turns' | 'effort'>,
  model: TextModel,
  ownCap: number | undefined,
): Thinking => {
  if (!wanted) {
    const isOff = offSteps.includes(effort) && model.thinking?.canDisable;
    return () => (isOff ? { thinking: { type: 'disabled' } } : {});
  }
  refuseResults(turns, model);
  if (model.thinking?.adaptive) return () => ({ thinking: { type: 'adaptive', display: 'summarized' } });
  const thinking: Thinking = (cap) => {
    if (cap <= BUDGET_MIN) {
      const message = `max_tokens: thinking with "${model.id}" needs more than ${BUDGET_MIN}, not ${cap}.`;
      throw invalidRequest('max_tokens', message);
    }
    return { thinking: { type: 'enabled', budget_tokens: Math.max(BUDGET_MIN, Math.floor(cap / 2)) } };
  };
  if (ownCap !== undefined) thinking(ownCap);
  return thinking;
};

/** Models with a budget want the thinking back that led to a call, and only the vendor's own format has a place for it. */
const refuseResults = (turns: Conversation['turns'], { id, thinking }: TextModel): void => {
  if (thinking?.adaptive || !turns.some(({ role }) => role === 'tool')) return;
  const advice = `Use "${id}" for tools, or /v1/messages.`;
  throw invalidRequest('model', `model: with thinking, "${id}" cannot be given results of tools here. ${advice}`);
};
