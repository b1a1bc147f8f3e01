import type { PageFile } from './build-pages.ts';

export const keyOf = ({ page, file }: Pick<PageFile, 'page' | 'file'>): string => `pages/${page}/${file}`;

/** Returns the parameters of the S3 upload of a page, under the key that the functions read. */
export const toObject = (page: PageFile, bucket: string) => ({
  Bucket: bucket,
  Key: keyOf(page),
  Body: page.bytes,
  ContentLength: page.bytes.length,
  ContentType: page.mediaType,
});
