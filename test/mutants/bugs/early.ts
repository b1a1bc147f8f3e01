import { bugsIn, type MoneyBug } from './money-bug.ts';

const whole = 'test/lambdas/functions/wiring/text-handler-early-commit.test.ts';
const deadlines = 'test/lambdas/functions/wiring/text-handler-early-deadlines.test.ts';

const formBugs = bugsIn('lambdas/http/early-answer.ts', whole, [
  {
    id: 'early-failure-as-json',
    what: 'A plain answer that failed after it had begun with 200 reads like a good one.',
    find: "const NOT_JSON = '!';",
    replace: "const NOT_JSON = '';",
  },
  {
    id: 'bytes-beyond-the-door',
    what: 'Sound has more time than the edge waits, and is charged where nobody can get it.',
    find: "return { atMs: by(BYTES_BEFORE_MS), covers: 'all' };",
    replace: 'return undefined;',
    caughtBy: deadlines,
  },
]);

const commitBugs = bugsIn('lambdas/http/early-answer.ts', whole, [
  {
    id: 'early-answer-told-twice',
    what: 'A stream that was begun early is told of twice, and its charge is counted twice.',
    find: 'if (text === undefined) return;\n    begun.write(text);',
    replace: "begun.write(text ?? '');",
  },
  {
    id: 'early-failure-told-as-good',
    what: 'The log and the metrics say of an answer that failed after its 200 that it was good.',
    find: 'recordError(exchange.summary, error);',
    replace: '',
  },
]);

const deadlineBugs = bugsIn('lambdas/core/paid-call/deadline.ts', deadlines, [
  {
    id: 'begun-stream-cut',
    what: 'A stream that has begun is cut when the door would have given up on its beginning.',
    find: "if (answerBy?.covers !== 'beginning') return;",
    replace: "if (answerBy?.covers !== 'all') return;",
  },
  {
    id: 'hold-shorter-than-its-stream',
    what: 'The hold of a stream expires with the time for its beginning, so that the sweeper releases it while it runs.',
    find: "answerBy?.covers === 'all' ? answerBy.atMs - now : byRule",
    replace: 'answerBy ? answerBy.atMs - now : byRule',
  },
]);

export const earlyBugs: readonly MoneyBug[] = [...formBugs, ...commitBugs, ...deadlineBugs];
