import * as z from 'zod';
import { showAs } from './bounded.ts';

/** Whether a text has at most this many characters. None takes more than two units, so that megabytes are not counted one by one. */
export const hasAtMost = (text: string, charactersMax: number): boolean =>
  text.length <= charactersMax || (text.length <= charactersMax * 2 && [...text].length <= charactersMax);

/** The words that a picture is made of; how many there may be is for each model to say. */
export const promptText = (problem: string) =>
  showAs(
    z
      .string(problem)
      .refine((text) => text.trim() !== '', problem)
      // A store would keep something else in its place.
      .refine((text) => text.isWellFormed(), 'holds half of a character. Send well-formed Unicode.'),
    { kind: 'schema', schema: { type: 'string', minLength: 1 } },
  );
