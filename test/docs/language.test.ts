import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readSource, repository } from '../architecture/read-imports.ts';
import { brokenRules, languageRules } from './language-rules.ts';
import { readProse } from './prose.ts';

/** Tracked TypeScript and Markdown, without recorded payloads, Russian and the rules, which quote what they forbid. */
const paths = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.md'], { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !/^test\/fixtures\/|\/ru\.ts$|^test\/docs\/language-rules\.ts$/.test(path));

describe('language', () => {
  it.each(languageRules)('the rule "$id" matches its bad examples and none of its good ones', ({ id, bad, good }) => {
    expect(bad.filter((text) => !brokenRules(text).some((rule) => rule.id === id))).toEqual([]);
    expect(good.filter((text) => brokenRules(text).some((rule) => rule.id === id))).toEqual([]);
  });

  it('no text breaks a rule', () => {
    const broken = paths.flatMap((path) =>
      readProse(path, readSource(path)).flatMap(({ line, text }) =>
        brokenRules(text).map(
          ({ id, replacement }) =>
            `${path}:${line} ${id}: "${text.replace(/\s+/g, ' ').slice(0, 200)}". Write: ${replacement}.`,
        ),
      ),
    );
    expect(broken).toEqual([]);
  });
});
