import { pdfPages } from '../pdf-pages.ts';
import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { ModelFacts } from './model-facts.ts';
import type { CountRequest, Message } from './request.ts';
import type { Block, DocumentBlock } from './request-blocks.ts';

/**
 * Limits the PDF pages of a request by the model's context:
 * https://platform.claude.com/docs/en/build-with-claude/pdf-support
 * Sources of the messages: https://github.com/anthropics/claude-code/issues/6197,
 * https://github.com/anthropics/claude-code/issues/5174
 */
export function refuseDocuments({ messages }: CountRequest, facts: ModelFacts): VendorRefusal | undefined {
  const pagesMax = facts.contextTokens < 1_000_000 ? 100 : 600;
  let pages = 0;
  for (const { data, field } of messages.flatMap(pdfsIn)) {
    const found = pdfPages(data);
    if (found === undefined) return anthropicError(400, `${field}: The PDF specified was not valid.`);
    pages += found;
    if (pages > pagesMax) return anthropicError(400, `${field}: A maximum of ${pagesMax} PDF pages may be provided.`);
  }
  return undefined;
}

function pdfsIn({ content }: Message, at: number): readonly { readonly data: string; readonly field: string }[] {
  return content.flatMap((block, index) =>
    documentsIn(block).flatMap(({ source }) =>
      source.type === 'base64'
        ? [{ data: source.data, field: `messages.${at}.content.${index}.pdf.source.base64.data` }]
        : [],
    ),
  );
}

function documentsIn(block: Block): readonly DocumentBlock[] {
  if (block.type === 'document') return [block];
  return block.type === 'tool_result' ? (block.content ?? []).filter((part) => part.type === 'document') : [];
}
