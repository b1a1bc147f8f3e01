import type { ImageMediaType } from '../image-type.ts';

/** Lifetime of a link (IMG-6). */
const LIFETIME_MS = 24 * 60 * 60 * 1_000;

export interface MediaDependencies {
  readonly media: MediaStore;
  /** 128 random bits as 32 hexadecimal digits. */
  readonly newMediaToken: () => string;
  /** URL prefix of links, without a trailing slash. */
  readonly mediaUrl: string;
}

/** Name of an unguessable link: its end in epoch seconds and 128 random bits. */
interface MediaLink {
  readonly name: string;
  readonly url: string;
}

export const newMediaLink = ({ newMediaToken, mediaUrl }: MediaDependencies, nowMs: number): MediaLink => {
  const name = `${Math.floor((nowMs + LIFETIME_MS) / 1_000)}-${newMediaToken()}`;
  return { name, url: `${mediaUrl}/media/${name}` };
};

const nameForm = /^(\d{10})-[0-9a-f]{32}$/;

/** End of the link in Unix milliseconds; undefined if the name does not have the form of a link. */
export const mediaEndsAt = (name: string): number | undefined => {
  const seconds = nameForm.exec(name)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
};

/** Stores an image and returns its link. Throws StoreError. */
export const linkImage = async (
  deps: MediaDependencies,
  nowMs: number,
  bytes: Uint8Array,
  mediaType: ImageMediaType,
): Promise<string> => {
  const { name, url } = newMediaLink(deps, nowMs);
  await deps.media.put(name, bytes, mediaType);
  return url;
};

export interface StoredMedia {
  readonly mediaType: string;
  readonly length: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Images behind links. Throws StoreError. */
export interface MediaStore {
  put(name: string, bytes: Uint8Array, mediaType: ImageMediaType): Promise<void>;
  /** Returns undefined if the image does not exist. Ignores whether the link has ended. */
  open(name: string): Promise<StoredMedia | undefined>;
}

/** Files of pages, stored by the deployment. Throws StoreError. */
export interface PageFiles {
  /** Returns undefined if the page has no such file. */
  open(page: string, file: string): Promise<StoredMedia | undefined>;
}
