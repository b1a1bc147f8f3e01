import { videoFileOf } from './video-file.ts';
import type { SimulatedVideo } from './video-job.ts';
import type { Answer, Piece } from './wire.ts';

/** Number of bursts of a slow file. */
const bursts = 20;

/**
 * Returns the file of a finished job according to its scenario. For a missing file the provider sends its own error.
 */
export function videoAnswer(id: string, job: SimulatedVideo): Answer {
  if (job.video?.file === 'html') {
    return { kind: 'plain', contentType: 'text/html', body: '<html><body>upstream</body></html>' };
  }
  const { length } = videoFileOf(id, job);
  return { kind: 'file', contentType: 'video/mp4', length, pieces: piecesOf(id, job) };
}

function* piecesOf(id: string, job: SimulatedVideo): Generator<Piece> {
  const { fileMs = 0, file: flaw } = job.video ?? {};
  const file = videoFileOf(id, job);
  const sentMax = flaw === 'broken' ? Math.floor(file.length / 2) : file.length;
  let sent = 0;
  let burstsDone = 0;
  for (const bytes of file.pieces()) {
    for (const part of slow(bytes, fileMs > 0 ? file.length : undefined)) {
      const piece = part.subarray(0, sentMax - sent);
      sent += piece.length;
      const burst = Math.floor((bursts * sent) / file.length);
      const pauseMs = ((burst - burstsDone) * fileMs) / bursts;
      burstsDone = burst;
      const breaks = flaw === 'broken' && sent === sentMax;
      yield { bytes: piece, ...(pauseMs > 0 && { pauseMs }), ...(breaks && { breaks }) };
      if (breaks) return;
    }
  }
}

/** A small file is also sent in one piece per burst. */
function* slow(bytes: Uint8Array, fileBytes: number | undefined): Generator<Uint8Array> {
  const step = fileBytes === undefined ? bytes.length : Math.min(bytes.length, Math.ceil(fileBytes / bursts));
  for (let start = 0; start < bytes.length; start += step) yield bytes.subarray(start, start + step);
}
