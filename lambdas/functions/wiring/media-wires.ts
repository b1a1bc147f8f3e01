import type { SpeechWire, TranscriptionWire } from '../../core/audio/audio-wire.ts';
import type { Wire, WireFor } from '../../core/catalog/providers.ts';
import type { ImageWire } from '../../core/images/image-wire.ts';
import type { VideoWire } from '../../core/videos/video-wire.ts';
import { createBflWire } from '../../providers/bfl/images-wire.ts';
import { createArkImageWire } from '../../providers/byteplus/images-wire.ts';
import { createArkVideoWire } from '../../providers/byteplus/video-wire.ts';
import { createGeminiImageWire } from '../../providers/google/image-wire.ts';
import { createLinkedVideo } from '../../providers/linked-video.ts';
import { createSpeechWire, createTranscriptionWire } from '../../providers/openai/audio-wire.ts';
import { createOpenaiImageWire } from '../../providers/openai/images-wire.ts';
import { createOpenaiVideoWire } from '../../providers/openai/videos-wire.ts';
import type { WireOptions } from '../../providers/vendor-call.ts';
import { byName } from './wire-options.ts';

export const toImageWires = (options: WireOptions): ReadonlyMap<Wire, ImageWire> =>
  byName<ImageWire>({
    openai_images: createOpenaiImageWire(options),
    gemini_generate_content_image: createGeminiImageWire(options),
    ark_images: createArkImageWire(options),
    bfl_async: createBflWire(options),
  } satisfies Record<WireFor<'image'>, ImageWire>);

/** Two protocols share one wire name; the kind of the model decides which applies. */
export const toAudioWires = (options: WireOptions) => ({
  transcription: byName<TranscriptionWire>({
    openai_audio: createTranscriptionWire(options),
  } satisfies Record<WireFor<'transcription'>, TranscriptionWire>),
  speech: byName<SpeechWire>({
    openai_audio: createSpeechWire(options),
  } satisfies Record<WireFor<'speech'>, SpeechWire>),
});

export const toVideoWires = (options: WireOptions, linkedVideo = createLinkedVideo()): ReadonlyMap<Wire, VideoWire> =>
  byName<VideoWire>({
    ark_video_tasks: createArkVideoWire({ ...options, linkedVideo }),
    openai_videos: createOpenaiVideoWire({ ...options, linkedVideo }),
  } satisfies Record<WireFor<'video'>, VideoWire>);
