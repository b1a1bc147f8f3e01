import { pdfPages } from '../pdf-pages.ts';
import { countTokens } from '../tokens.ts';
import type { VendorRefusal } from '../wire.ts';
import { openaiError } from './error.ts';
import { type InputItem, itemFiles } from './responses-items.ts';

type File = ReturnType<typeof itemFiles>[number];

/** Text of a page, and its picture at high detail. The provider publishes no numbers. */
const tokensPerPage = 1_500 + 765;

const dataUrl = /^data:([^;,]+)[^,]*;base64,/;

/**
 * Sources of the messages: https://github.com/pydantic/pydantic-ai/issues/4445 (2026-02),
 * https://github.com/openai/openai-node/issues/1560 (2025-06). The form of `file_data` is that of
 * https://developers.openai.com/api/docs/guides/file-inputs (2026-11).
 */
export function refuseFiles(items: readonly InputItem[]): VendorRefusal | undefined {
  for (const [at, item] of items.entries()) {
    for (const file of itemFiles(item)) {
      const refusal = refuseFile(file, `input[${at}]`);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

function refuseFile({ file_data: data, file_url: url }: File, place: string): VendorRefusal | undefined {
  if (data == null && url == null) {
    return openaiError(400, `Missing required parameter: '${place}.file_data'.`, { param: place });
  }
  if (url != null && URL.parse(url)?.hostname.endsWith('.invalid')) {
    return openaiError(400, `Error while downloading ${url}.`, { param: 'url' });
  }
  if (data == null) return undefined;
  const [head, type] = dataUrl.exec(data.slice(0, 200)) ?? [];
  if (head === undefined) {
    const message = `Invalid file data: '${place}.file_data'. Expected a base64-encoded data URL.`;
    return openaiError(400, message, { param: `${place}.file_data`, code: 'invalid_value' });
  }
  const isWrong = type === 'application/pdf' && pdfPages(data.slice(head.length)) === undefined;
  return isWrong ? openaiError(400, 'The file you uploaded is not a valid PDF.') : undefined;
}

/** Returns the tokens of a file. A file at a URL is not read and counts as one page. */
export function fileTokens({ file_data: data }: File): number {
  const [head = '', type] = dataUrl.exec((data ?? '').slice(0, 200)) ?? [];
  const content = (data ?? '').slice(head.length);
  if (data == null || type === 'application/pdf') return (pdfPages(content) ?? 1) * tokensPerPage;
  return countTokens(Buffer.from(content, 'base64').toString('utf8'));
}
