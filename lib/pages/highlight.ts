import { escapeHtml } from './html.ts';

/** Languages of code blocks, by the names that Markdown and code samples use. */
const languages: Readonly<Record<string, 'json' | 'script' | 'python' | 'shell'>> = {
  ...{ json: 'json', jsonc: 'json' },
  ...{ js: 'script', javascript: 'script', ts: 'script', typescript: 'script' },
  ...{ py: 'python', python: 'python', toml: 'python', yaml: 'python', yml: 'python' },
  ...{ sh: 'shell', shell: 'shell', bash: 'shell', curl: 'shell' },
};

const string = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/.source;
const number = /\b\d+(?:\.\d+)?\b/.source;
const hashComment = /(?<![^\s])#[^\n]*/.source;

/** Expressions with one named group per class of token: comment, key, string, number, keyword. */
const grammars = {
  json: String.raw`(?<key>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\\n]|\\.)*")|(?<number>-?${number}(?:[eE][-+]?\d+)?)|(?<keyword>\b(?:true|false|null)\b)`,
  script: String.raw`(?<comment>(?<![:'"])\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<string>${string}|\x60[^\x60]*\x60)|(?<number>${number})|(?<keyword>\b(?:import|from|export|const|let|var|new|await|async|for|of|in|if|else|return|throw|try|catch|function|while|true|false|null|undefined)\b)`,
  python: String.raw`(?<comment>${hashComment})|(?<string>"""[\s\S]*?"""|[fb]?(?:${string}))|(?<number>${number})|(?<keyword>\b(?:import|from|as|with|def|class|for|in|if|elif|else|return|raise|try|except|while|print|True|False|None|not|and|or|async|await|lambda)\b)`,
  shell: String.raw`(?<comment>${hashComment})|(?<string>"(?:[^"\\]|\\.)*"|'[^']*')|(?<key>(?<=\s)--?[A-Za-z][\w-]*)|(?<keyword>^\s*(?:curl|export|npm|npx|node|pip|python3?|echo)\b)`,
} as const;

/** Returns code as HTML, with a `span` per token for the colors. Unknown languages stay plain. */
export const highlight = (code: string, language: string | undefined): string => {
  const known = languages[(language ?? '').toLowerCase()];
  if (known === undefined) return escapeHtml(code);
  let html = '';
  let from = 0;
  for (const match of code.matchAll(new RegExp(grammars[known], 'gm'))) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? ['plain'];
    html += `${escapeHtml(code.slice(from, match.index))}<span class="t-${kind}">${escapeHtml(match[0])}</span>`;
    from = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(from));
};

/** Names of languages in the bar of a block. */
const names = { json: 'JSON', script: 'JavaScript', python: 'Python', shell: 'Shell' } as const;

const nameOf = (language: string): string => {
  if (/^(?:toml|ya?ml|ts|typescript|http)$/.test(language)) return language.toUpperCase().replace('TYPESCRIPT', 'TS');
  const known = languages[language];
  return known === undefined ? '' : names[known];
};

/**
 * Returns a block of code, with the language in a bar. The block can be focused, so that the keyboard scrolls it. The
 * script of the page adds a button that copies the code to the bar.
 */
export const codeBlock = (code: string, language: string | undefined, label?: string): string => {
  const name = escapeHtml(label ?? nameOf((language ?? '').toLowerCase()));
  const text = highlight(code.replace(/\n+$/, ''), language);
  return `<div class="code"><div class="bar"><span>${name}</span></div><pre tabindex="0"><code>${text}</code></pre></div>\n`;
};
