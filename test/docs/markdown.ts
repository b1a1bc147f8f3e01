/** Supports the Markdown that the documents of this repository use. */

const withoutCode = (text: string): string => text.replaceAll(/^(`{3,})[\s\S]*?^\1/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Returns the targets of links and images, as written. */
export const linksIn = (text: string): string[] => {
  const plain = withoutCode(text);
  const inline = [...plain.matchAll(/\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(([, link = '']) => link);
  const named = [...plain.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)].map(([, link = '']) => link);
  return [...inline, ...named];
};

/** Returns valid targets after `#`: headings in GitHub's form, and anchors set by hand. */
export const anchorsIn = (text: string): string[] => {
  const plain = text.replaceAll(/^(`{3,})[\s\S]*?^\1/gm, '');
  const met = new Map<string, number>();
  const headings = [...plain.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, heading = '']) => {
    const slug = toSlug(heading);
    const times = met.get(slug) ?? 0;
    met.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  });
  const set = [...plain.matchAll(/<a (?:id|name)="([^"]+)">/g)].map(([, id = '']) => id);
  return [...headings, ...set];
};

/** Returns the anchor that GitHub gives a heading. */
export const toSlug = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
