import { encode as encodeOld } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { tokensOfText } from '../lambdas/core/text/token-estimate.ts';
import { corpusOf, type Sample } from './token-corpus.ts';

/** Makes the tokenizer treat special tokens as plain text. */
const asText = { disallowedSpecial: new Set<string>() };
const SEED = Number(process.env.SEED ?? 1);
const SAMPLES_PER_KIND = Number(process.env.SAMPLES ?? 300);

interface Row {
  readonly kind: string;
  samples: number;
  covered: number;
  ratios: number;
  worst: number;
  coveredOld: number;
  worstOld: number;
}

const emptyRow = (kind: string): Row => ({
  kind,
  samples: 0,
  covered: 0,
  ratios: 0,
  worst: Number.POSITIVE_INFINITY,
  coveredOld: 0,
  worstOld: Number.POSITIVE_INFINITY,
});

const add = (row: Row, ratio: number, ratioOld: number): void => {
  row.samples += 1;
  row.covered += Number(ratio >= 1);
  row.ratios += ratio;
  row.worst = Math.min(row.worst, ratio);
  row.coveredOld += Number(ratioOld >= 1);
  row.worstOld = Math.min(row.worstOld, ratioOld);
};

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)} %`;

const cells = ({ kind, samples, covered, ratios, worst, coveredOld, worstOld }: Row): string =>
  `| ${kind} | ${samples} | ${percent(covered, samples)} | ${(ratios / samples).toFixed(2)} | ${worst.toFixed(2)} ` +
  `| ${percent(coveredOld, samples)} | ${worstOld.toFixed(2)} |`;

const heading = [
  '| text | samples | not below | mean | lowest | cl100k: not below | cl100k: lowest |',
  '|---|---:|---:|---:|---:|---:|---:|',
];

const measure = (samples: readonly Sample[]): string[] => {
  const rows = new Map<string, Row>();
  const all = emptyRow('**all**');
  for (const { kind, text } of samples) {
    const estimate = tokensOfText(text);
    const ratio = estimate / encode(text, asText).length;
    const ratioOld = estimate / encodeOld(text, asText).length;
    const row = rows.get(kind) ?? emptyRow(kind);
    rows.set(kind, row);
    add(row, ratio, ratioOld);
    add(all, ratio, ratioOld);
  }
  return [...heading, ...[...rows.values(), all].map(cells)];
};

const corpus = corpusOf({ seed: SEED, samplesPerKind: SAMPLES_PER_KIND });
const heldOut = measure(corpus.filter((sample) => sample.heldOut));
const fitted = measure(corpus.filter((sample) => !sample.heldOut)).at(-1);
process.stdout.write(`${heldOut.join('\n')}\n\nSamples by which the rates were chosen: ${fitted}\n`);
