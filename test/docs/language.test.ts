import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readSource, repository } from '../architecture/read-imports.ts';
import baseline from './language-baseline.json' with { type: 'json' };
import { brokenRules, languageRules } from './language-rules.ts';
import { readProse } from './prose.ts';

/** Tracked TypeScript and Markdown, without recorded payloads, Russian and the rules, which quote what they forbid. */
const paths = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.md'], { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !/^test\/fixtures\/|\/ru\.ts$|^test\/docs\/language-rules\.ts$/.test(path));

const hits = paths.flatMap((path) =>
  readProse(path, readSource(path)).flatMap(({ line, text }) =>
    brokenRules(text).map(({ id, replacement }) => ({
      key: `${path.includes('/') ? path.split('/')[0] : '.'} ${id}`,
      place: `${path}:${line} ${id}: "${text.replace(/\s+/g, ' ').slice(0, 200)}". Write: ${replacement}.`,
    })),
  ),
);

describe('language', () => {
  it.each(languageRules)('the rule "$id" matches its bad examples and none of its good ones', ({ id, bad, good }) => {
    expect(bad.filter((text) => !brokenRules(text).some((rule) => rule.id === id))).toEqual([]);
    expect(good.filter((text) => brokenRules(text).some((rule) => rule.id === id))).toEqual([]);
  });

  it('text has no more and no fewer replaced constructions than the baseline', () => {
    const counts: Record<string, number> = {};
    for (const { key } of hits) counts[key] = (counts[key] ?? 0) + 1;
    const known: Record<string, number> = baseline;
    const risen = Object.keys(counts).filter((key) => (counts[key] ?? 0) > (known[key] ?? 0));
    expect(hits.filter(({ key }) => risen.includes(key)).map(({ place }) => place)).toEqual([]);
    expect(Object.keys(known).filter((key) => (counts[key] ?? 0) < (known[key] ?? 0))).toEqual([]);
  });
});
