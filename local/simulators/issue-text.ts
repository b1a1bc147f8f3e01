import type * as z from 'zod';

/** Returns the message of the schema. Replaces a standard message of Zod with the wording of the provider's library. */
export const issueText = (issue: z.core.$ZodIssue | undefined): string => {
  if (issue === undefined) return 'Input should be valid';
  if (!/^(Invalid|Too |Unrecognized)/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `Input should be a valid ${issue.expected}`;
    case 'too_small':
      return `Input should be at least ${issue.minimum}`;
    case 'too_big':
      return `Input should be at most ${issue.maximum}`;
    case 'invalid_value':
      return `Input should be ${issue.values.map((value) => `'${String(value)}'`).join(' or ')}`;
    default:
      return 'Input should be valid';
  }
};
