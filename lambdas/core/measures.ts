/** What is measured of the work that nobody waits for: like a notice, with a number and without a record in the log. */
export const videoMeasures = ['videos_begun', 'video_s', 'video_stored_bytes'] as const;
export type VideoMeasure = (typeof videoMeasures)[number];

export const measures = [
  ...videoMeasures,
  'swept_released',
  'swept_finished',
  'sweep_failed',
  'notes_late',
  'notes_failed',
  'note_age_s',
  'video_sweep_failed',
  'audit_accounts',
  'audit_differences',
  'audit_unstable',
  'audit_passes',
  'orphaned_holds',
] as const;
export type Measure = (typeof measures)[number];
