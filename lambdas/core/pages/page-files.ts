import type { StoredMedia } from '../images/media-store.ts';

/** Files of pages, put there when the gateway is deployed. Throws StoreError. */
export interface PageFiles {
  /** Undefined when the page has no such file. */
  open(page: string, file: string): Promise<StoredMedia | undefined>;
}
