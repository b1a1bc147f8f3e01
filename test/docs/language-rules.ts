/** Rule against a construction that this project does not use. `good` has text that looks similar and is allowed. */
export interface LanguageRule {
  readonly id: string;
  readonly pattern: RegExp;
  readonly replacement: string;
  readonly bad: readonly string[];
  readonly good: readonly string[];
}

/**
 * Pattern prefix that matches where a sentence can start: after the end of a sentence, or at the start of a comment, a
 * heading or a table cell.
 */
const sentenceStart = '(?:^|[.!?:]\\s+|\\|\\s*)[\\s#>*-]*';

export const languageRules: readonly LanguageRule[] = [
  {
    id: 'tell',
    pattern: /\b(?:tell|tells|telling|told|untold)\b/i,
    replacement: 'reports, returns, logs, emits, shows, notifies, includes',
    bad: ['The answer tells the cost', 'is told of it', 'Tell me when'],
    good: ['teller', 'The response includes the cost'],
  },
  {
    id: 'stand',
    pattern: /\b(?:stands?|stood)\b(?!-| in for\b| by\b)/i,
    replacement: 'is in, is stored under, follows, precedes',
    bad: ['It stands in the table', 'what stood before'],
    good: ['a stand-in for the provider', 'Fakes stand in for AWS', 'the fallback stands by', 'standard', 'understand'],
  },
  {
    id: 'person',
    pattern: /\b(?:nobody|somebody|anybody|whoever|whomever)\b/i,
    replacement: 'the named actor, or the passive with "cannot be"',
    bad: ['Nobody reads it', 'whoever asks'],
    good: ['The sweeper reads it', 'body'],
  },
  {
    id: 'begun',
    pattern: /\b(?:is|are|was|were|be|being|never) begun\b/i,
    replacement: 'has started, was created, did not complete',
    bad: ['A video that was never begun', 'once it is begun'],
    good: ['The stream has begun'],
  },
  {
    id: 'is-no',
    pattern:
      /(?<!\bthere (?:(?:will|may|can|must|should|would) )?)\b(?:is|are|was|were|be) (?:none\b|no (?!longer\b|more\b|less\b|later\b|earlier\b|greater\b|larger\b|smaller\b))/i,
    replacement: 'is not an X; an invalid X',
    bad: ['a value that is no number', 'It is none of these'],
    good: ['There is no key', 'There may be no key', 'is no longer valid', 'must be no larger than 20 MiB'],
  },
  {
    id: 'asked-for',
    pattern: /\b(?:is|are|was|were|be|been|being) asked for\b/i,
    replacement: 'requests, requested, polls',
    bad: ['A video that was asked for'],
    good: ['The client asked for a stream'],
  },
  {
    id: 'of-first',
    pattern: new RegExp(`${sentenceStart}Of (?!course\\b)`),
    replacement: 'the noun first: "Account version after the write"',
    bad: ['Of the account after the write', 'Ends. Of its own accord', '## Of keys'],
    good: ['Of course not', 'The end of it'],
  },
  {
    id: 'what-first',
    pattern: new RegExp(
      `${sentenceStart}What (?:is|was|has|cannot|came|comes|may|must|it|the|a|every|could|stands)\\b(?![^.!?]*\\?)`,
    ),
    replacement: 'the noun first',
    bad: ['What the provider counted.', 'Fine. What is left goes.', '## What it answers'],
    good: ['What is a hold?', 'See what is left'],
  },
  {
    id: 'returns',
    pattern: /\banswers (?:undefined|null|true|false|nothing|what|whether|[1-5]\d\d)\b/i,
    replacement: 'returns',
    bad: ['answers undefined', 'answers 404'],
    good: ['the answers of two models', 'returns 404'],
  },
  {
    id: 'give-back',
    pattern: /\b(?:gives?|given|gave|giving) (?:\w+ ){0,3}back\b/i,
    replacement: 'releases, refunds, restores',
    bad: ['gives the hold back', 'given back'],
    good: ['releases the hold', 'falls back'],
  },
  {
    id: 'reserve',
    pattern: /\b(?:the|a|no|its|their|another|without|whose|as|or) reserves?\b/i,
    replacement: 'fallback model',
    bad: ['without a reserve', 'the reserve'],
    good: ['reserved concurrency', 'a reserved name'],
  },
  {
    id: 'letters',
    pattern: /\b\d+ letters\b(?!, | and | or )/i,
    replacement: 'characters',
    bad: ['at most 64 letters'],
    good: ['1 to 64 letters, digits and -'],
  },
  {
    id: 'dear',
    pattern: /\b(?:dearer|dearest|(?:is|are|was|very|as|so) dear)\b/i,
    replacement: 'expensive',
    bad: ['the dearest model', 'is dear'],
    good: ['Hello, dear friend'],
  },
  {
    id: 'ours',
    pattern: /\bof (?:ours|theirs)\b/i,
    replacement: 'the owner by name',
    bad: ['an id of ours', 'a language of theirs'],
    good: ['of the hours'],
  },
  {
    id: 'at-once',
    pattern: /\bat once\b(?! more)/i,
    replacement: 'immediately; concurrently',
    bad: ['ends at once', 'eight at once'],
    good: ['looked at once more'],
  },
  {
    id: 'idiom',
    pattern:
      /\b(?:anew|signs? of life|in so many words|in vain|mend(?:s|ed|ing)?|vouch(?:es)?|turn(?:s|ed)? away|goes by the|(?:AWS|Lambda)'s own words)\b|, (?:be|were) it\b/i,
    replacement: 'again, renewal, explicitly, fix, uses',
    bad: ['begins anew', 'a sign of life', 'Mend it', 'an SDK, be it OpenAI', 'goes by the header'],
    good: ['renew', 'amended', 'uses the header'],
  },
];

const token = /[\p{L}\p{N}_.$'’-]+/gu;

/** The text without inline code, URLs, and names such as `snake_case`, `camelCase` and `file.ts`. */
export const withoutNames = (text: string): string =>
  text
    .replace(/`[^`]*`/g, '`')
    .replace(/\b[a-z][a-z0-9+]*:\/\/\S+/gi, '')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/\s+/g, ' ')
    .replace(token, (word) => (/_|\p{L}\.\p{L}|\p{Ll}\p{Lu}/u.test(word) ? '' : word))
    .trim();

export const brokenRules = (text: string): readonly LanguageRule[] => {
  const plain = withoutNames(text);
  return languageRules.filter(({ pattern }) => pattern.test(plain));
};
