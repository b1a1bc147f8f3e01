import { expect, test } from 'vitest';
import { dialogueOf, withoutBlankTurns } from '../../../../lambdas/core/text/blank-turns.ts';
import type { Turn } from '../../../../lambdas/core/text/conversation.ts';

/** Turns as words: the role's first letter, then the text; `c` is an assistant with a call and no text. */
const turnsOf = (words: string): readonly Turn[] =>
  words.split(' ').map((word, index): Turn => {
    const [letter, text = ''] = [word.slice(0, 1), word.slice(1).replace('_', ' \n')];
    const param = `messages[${index}]`;
    if (letter === 's') return { role: 'system', text, param };
    if (letter === 'u') return { role: 'user', content: [{ kind: 'text', text }], param };
    if (letter === 't') return { role: 'tool', callId: '1', text, param };
    const toolCalls = letter === 'c' ? [{ id: '1', name: 'f', arguments: '{}' }] : [];
    return { role: 'assistant', text, toolCalls, param };
  });

const image: Turn = {
  role: 'user',
  content: [{ kind: 'image', url: 'https://example.com/a.png', detail: 'auto', param: 'p' }],
  param: 'messages[0]',
};

const wordOf = (turn: Turn): string => {
  if (turn.role === 'user') return `u${turn.content.map((part) => (part.kind === 'text' ? part.text : '')).join('')}`;
  const letter = turn.role === 'assistant' && turn.toolCalls.length > 0 ? 'c' : turn.role.slice(0, 1);
  return `${letter}${turn.text}`;
};

test.for([
  ['s ux', 'ux'],
  ['s_ sx ux', 'sx ux'],
  ['ux a_ u ay uz', 'ux ay uz'],
  ['ux u', 'ux'],
  ['u_ ux', 'ux'],
  ['ux c t', 'ux c t'],
  ['ux c t u_', 'ux c t'],
  ['ux ay', 'ux ay'],
  ['ux a', 'ux'],
  ['ay uz', 'ay uz'],
  ['u ay uz', 'u. ay uz'],
  ['sx u_ c t', 'u. sx c t'],
] as const)('CHAT-2 the turns %s are sent as %s', ([words, sent]) => {
  expect(dialogueOf(turnsOf(words)).map(wordOf).join(' ')).toBe(sent);
});

test('CHAT-2 a turn with only an image is not blank', () => {
  expect(dialogueOf([image])).toEqual([image]);
});

test.for([
  ['u', 0],
  ['s', 0],
  ['a_', 0],
  ['sx u_', 1],
  ['sx a', 1],
  ['ux ay u_', 2],
  ['ux ay u sx a', 2],
] as const)('CHAT-2 the turns %s leave nothing to respond to, and turn %d is named', ([words, index]) => {
  expect(() => dialogueOf(turnsOf(words))).toThrow(
    expect.objectContaining({ code: 'invalid_messages', param: `messages[${index}].content` }),
  );
});

test('CHAT-2 only instructions stay for providers that accept them alone', () => {
  expect(withoutBlankTurns(turnsOf('sx u')).map(wordOf)).toEqual(['sx']);
  expect(() => withoutBlankTurns(turnsOf('s u_'))).toThrow(expect.objectContaining({ param: 'messages[1].content' }));
});
