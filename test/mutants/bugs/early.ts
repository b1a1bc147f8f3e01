import { bugsIn, type MoneyBug } from './money-bug.ts';

const whole = 'test/lambdas/functions/wiring/text-handler-early-commit.test.ts';
const deadlines = 'test/lambdas/functions/wiring/text-handler-early-deadlines.test.ts';

const formBugs = bugsIn('lambdas/http/early-answer.ts', whole, [
  {
    id: 'early-failure-as-json',
    what: 'A plain response that fails after its early status 200 is valid JSON.',
    find: "const NOT_JSON = '!';",
    replace: "const NOT_JSON = '';",
  },
  {
    id: 'bytes-beyond-the-door',
    what: 'A transcript as text may take longer than CloudFront waits, and is charged although no client can receive it.',
    find: "return { atMs: by(BYTES_BEFORE_MS), covers: 'all' };",
    replace: 'return undefined;',
    caughtBy: deadlines,
  },
  {
    id: 'speech-silence-beyond-the-door',
    what: 'Speech may be silent for longer than CloudFront waits, and is charged although its connection is closed.',
    find: "covers: 'silence', silenceMs }",
    replace: "covers: 'beginning' }",
    caughtBy: deadlines,
  },
]);

const commitBugs = bugsIn('lambdas/http/early-answer.ts', whole, [
  {
    id: 'early-response-recorded-twice',
    what: 'A stream that was started early is recorded twice, and its charge is counted twice.',
    find: 'if (text === undefined) return;\n    begun.write(text);',
    replace: "begun.write(text ?? '');",
  },
  {
    id: 'early-failure-recorded-as-success',
    what: 'The log and the metrics report a response that failed after its early status 200 as a success.',
    find: 'recordError(exchange.summary, error);',
    replace: '',
  },
]);

const deadlineBugs = bugsIn('lambdas/core/paid-call/deadline.ts', deadlines, [
  {
    id: 'begun-stream-cut',
    what: 'A running stream is cut at the time limit for its start.',
    find: "if (!answerBy || answerBy.covers === 'all') return;",
    replace: "if (answerBy?.covers !== 'all') return;",
  },
  {
    id: 'speech-cut-while-it-arrives',
    what: 'Speech that keeps arriving is cut at the time limit for one silence, and never charged.',
    find: 'progressed: passDoor,',
    replace: 'progressed: () => undefined,',
  },
  {
    id: 'hold-shorter-than-its-stream',
    what: 'The hold of a stream expires at the time limit for its start, and the sweeper releases it while the stream runs.',
    find: "answerBy?.covers === 'all' ? answerBy.atMs - now : byRule",
    replace: 'answerBy ? answerBy.atMs - now : byRule',
  },
]);

export const earlyBugs: readonly MoneyBug[] = [...formBugs, ...commitBugs, ...deadlineBugs];
