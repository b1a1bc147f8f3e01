import { bugsIn } from './money-bug.ts';

const speech = 'test/lambdas/core/audio/speak.test.ts';
const transcripts = 'test/lambdas/core/audio/transcribe.test.ts';
const images = 'test/lambdas/core/images/draw-images-uncollected.test.ts';

const speechBugs = bugsIn('lambdas/core/audio/speak.ts', speech, [
  {
    id: 'cut-speech-costs-nothing',
    what: 'A client can let all speech run into the deadline, for free and without a limit.',
    find: 'allowanceUseOf(thrown, this.#deadline, this.#hasContent)',
    replace: "'no'",
  },
  {
    id: 'broken-speech-uses-the-allowance',
    what: 'Speech that its provider breaks off uses the allowance of an account that did not cause it.',
    find: 'return { picos: this.#amountPicos, usesAllowance };',
    replace: "return { picos: this.#amountPicos, usesAllowance: 'yes' };",
  },
  {
    id: 'unsent-speech-uses-the-allowance',
    what: 'A provider that sends no audio until the deadline uses the allowance of the account.',
    find: '#hasContent = false;',
    replace: '#hasContent = true;',
  },
  {
    id: 'allowance-not-in-the-hold-of-speech',
    what: 'Speech places its hold whatever the account used of its allowance.',
    find: 'const allowancePicos = allowanceOf(deps, caller);',
    replace: 'const allowancePicos = undefined;',
  },
]);

const transcriptBugs = bugsIn('lambdas/core/audio/transcribe.ts', transcripts, [
  {
    id: 'transcript-deadline-costs-nothing',
    what: 'A client can let every transcription run into the deadline, for free and without a limit.',
    find: "usesAllowance === 'no' ? undefined : { picos: amountPicos, usesAllowance }",
    replace: 'undefined',
  },
  {
    id: 'allowance-not-in-the-hold-of-a-transcript',
    what: 'A transcription places its hold whatever the account used of its allowance.',
    find: 'const allowancePicos = allowanceOf(deps, caller);',
    replace: 'const allowancePicos = undefined;',
  },
]);

const imageBugs = bugsIn('lambdas/core/images/draw-images.ts', images, [
  {
    id: 'image-deadline-costs-nothing',
    what: 'A client can let every image request run into the deadline, for free and without a limit.',
    find: 'allowanceUseOf(thrown, deadline, false)',
    replace: 'allowanceUseOf(thrown, { hasCut: () => false }, false)',
  },
  {
    id: 'withheld-images-cost-nothing',
    what: 'A client can request images that a filter blocks, for free and without a limit.',
    find: "usesAllowance === 'no'",
    replace: '!deadline.hasCut(thrown)',
  },
  {
    id: 'failed-images-use-the-allowance',
    what: 'Image requests that a provider fails use the allowance of an account that did not cause it.',
    find: "if (usesAllowance === 'no') return undefined;",
    replace: '',
  },
  {
    id: 'withheld-images-at-their-full-price',
    what: 'Blocked images use the allowance at their full price although the provider reported its counts.',
    find: 'counted ?? money.holdPicos',
    replace: 'money.holdPicos',
  },
  {
    id: 'allowance-not-in-the-hold-of-images',
    what: 'An image request places its hold whatever the account used of its allowance.',
    find: 'allowancePicos: allowanceOf(deps, caller),',
    replace: '',
  },
]);

export const uncollectedMediaBugs = [...speechBugs, ...transcriptBugs, ...imageBugs];
