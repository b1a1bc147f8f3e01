import type { PageFile } from './build-pages.ts';

export const keyOf = ({ page, file }: Pick<PageFile, 'page' | 'file'>): string => `pages/${page}/${file}`;

/** What S3 is given, so that the functions find it. */
export const toObject = (page: PageFile, bucket: string) => ({
  Bucket: bucket,
  Key: keyOf(page),
  Body: page.bytes,
  ContentLength: page.bytes.length,
  ContentType: page.mediaType,
});
