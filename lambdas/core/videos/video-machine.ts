/** What brings a video to its end: one execution per video, under the video's id. */
export interface VideoMachine {
  /** Safe to repeat. `ended`: there was one, and it is over. Throws StoreError when no definite answer came. */
  start(videoId: string): Promise<'running' | 'ended'>;
}
