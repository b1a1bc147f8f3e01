import { expect, test } from 'vitest';
import { createProgram } from '../../bin/program.ts';
import { metrics, operationalEvents } from '../../lambdas/core/metrics.ts';
import { scriptedTerminal } from '../support/scripted-terminal.ts';
import { toSlug } from './markdown.ts';
import { runbook, sectionsOf } from './runbook-sections.ts';

const alarms = sectionsOf('Alarms');
const notices = sectionsOf('Notices');

test('OPS-4 every operational event has exactly one section, and every section an event', () => {
  const headed = [...notices.keys()].flatMap((heading) => heading.split(', '));
  expect(headed.toSorted()).toEqual([...operationalEvents].sort());
  for (const text of notices.values()) expect(text.length).toBeGreaterThan(80);
});

test('OPS-3 the runbook describes every metric', () => {
  const headed = new Set([...notices.keys()].flatMap((heading) => heading.split(', ')));
  const untold = [...metrics.keys()].filter((name) => !headed.has(name) && !runbook.includes(`\`${name}\``));
  expect(untold).toEqual([]);
});

test('OPS-4 every alarm section has a meaning, a way to look and an action', () => {
  expect(alarms.size).toBeGreaterThan(30);
  for (const [id, text] of alarms) {
    const [meaning = '', look = '', action = ''] = text.split(/^(?:Look|Do): /m);
    expect({ id, parts: text.match(/^(?:Look|Do):/gm) }).toEqual({ id, parts: ['Look:', 'Do:'] });
    expect({ id, meaning: meaning.trim().length > 30, act: action.trim().length > 30 }).toEqual({
      id,
      meaning: true,
      act: true,
    });
    // Contains a command, a query or the name of a widget.
    expect({ id, look: /`[^`]+`/.test(look) }).toEqual({ id, look: true });
  }
});

test('OPS-4 headings are unique, and every section that another one refers to exists', () => {
  const headings = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toSlug(heading));
  expect(headings.filter((anchor, index) => headings.indexOf(anchor) !== index)).toEqual([]);
  // Sections refer to each other by id.
  for (const text of alarms.values())
    for (const [, id = ''] of text.matchAll(/(?:[Ss]ee|Do:) (?:also )?`([a-z]+-[a-z-]+)`/g))
      expect([...alarms.keys()]).toContain(id);
});

test('OPS-4, OPS-5 the commands of the runbook exist', () => {
  const program = createProgram(scriptedTerminal().terminal);
  const named = [...runbook.matchAll(/npm run cli -- ([a-z]+)(?: ([a-z]+))?/g)];
  expect(named.length).toBeGreaterThan(10);
  for (const [line, first, second] of named) {
    const command = program.commands.find((each) => each.name() === first);
    expect({ line, known: command !== undefined }).toEqual({ line, known: true });
    const below = command?.commands.map((each) => each.name()) ?? [];
    if (below.length > 0) expect(below).toContain(second);
  }
});
