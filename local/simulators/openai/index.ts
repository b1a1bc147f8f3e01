import type { Wire } from '../wire.ts';
import { openaiSpeech } from './audio-speech.ts';
import { openaiTranscriptions } from './audio-transcriptions.ts';
import { openaiChat } from './chat.ts';
import { openaiEmbeddings } from './embeddings.ts';
import { openaiEditImages, openaiGenerateImages } from './images.ts';
import { openaiModel, openaiModels } from './models.ts';
import { openaiModerations } from './moderations.ts';
import { openaiResponses } from './responses.ts';
import { openaiCreateVideo, openaiVideo, openaiVideoContent } from './videos.ts';

export const openaiWires: readonly Wire[] = [
  openaiChat,
  openaiResponses,
  openaiEmbeddings,
  openaiModerations,
  openaiModels,
  openaiModel,
  openaiCreateVideo,
  openaiVideo,
  openaiVideoContent,
  openaiTranscriptions,
  openaiSpeech,
  openaiGenerateImages,
  openaiEditImages,
];
