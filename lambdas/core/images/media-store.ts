import type { ImageMediaType } from '../image-type.ts';

export interface StoredMedia {
  readonly mediaType: string;
  readonly length: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Images that links lead to. Throws StoreError. */
export interface MediaStore {
  put(name: string, bytes: Uint8Array, mediaType: ImageMediaType): Promise<void>;
  /** Undefined when there is no such image. Whether its time is over is not asked here. */
  open(name: string): Promise<StoredMedia | undefined>;
}
