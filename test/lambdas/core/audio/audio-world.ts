import type {
  SpeechCall,
  SpeechStream,
  Transcript,
  TranscriptionCall,
} from '../../../../lambdas/core/audio/audio-wire.ts';
import type { SpeechSink } from '../../../../lambdas/core/audio/speak.ts';
import { type SpeechParams, speak } from '../../../../lambdas/core/audio/speak.ts';
import { type TranscriptionParams, transcribe } from '../../../../lambdas/core/audio/transcribe.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { LedgerStore } from '../../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { PaidCallDependencies } from '../../../../lambdas/core/paid-call/dependencies.ts';
import { speech, tokenTranscription, transcription } from '../../../support/audio-samples.ts';
import { type Fault, fails, withFaults, withOutboxFaults } from '../../../support/memory/faults.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { data } from '../catalog/sample-data.ts';

const NOW = Date.UTC(2026, 10, 1);
const ACCOUNT = 'account-1';

interface WorldOptions {
  readonly models?: readonly unknown[];
  readonly providers?: readonly unknown[];
  readonly usd?: string;
  readonly hear?: (call: TranscriptionCall) => Promise<Transcript>;
  readonly sound?: (call: SpeechCall) => AsyncGenerator<Uint8Array>;
  readonly noNotes?: boolean;
  readonly uncollectedDailyPicos?: bigint;
  readonly fault?: (method: keyof LedgerStore, turn: number) => Fault | undefined;
}

export const transcript = (counted: Transcript['counted']): Transcript => ({
  text: 'Hi',
  counted,
  reported: undefined,
});

export async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (typeof text !== 'string') throw text;
    yield Buffer.from(text);
  }
}

/** Creates an account, a catalog and a provider whose transcripts and speech come from `options`. */
export const createAudioWorld = async (options: WorldOptions = {}) => {
  const clock = new ManualClock(NOW);
  const memory = new MemoryLedgerStore();
  await memory.createAccount(ACCOUNT, 0);
  const amountPicos = parseUsd(options.usd ?? '1000');
  await memory.credit({ accountId: ACCOUNT, ref: 'first', amountPicos, reason: 'test', at: NOW });
  const log: string[] = [];
  const notices: string[] = [];
  const reports: string[] = [];
  const state = { closed: 0 };
  const store = withFaults(memory, (method, turn) => {
    log.push(method);
    return options.fault?.(method, turn);
  });
  const outbox = withOutboxFaults(new MemoryOutbox(), options.noNotes ? { put: fails } : {});
  const catalog = loadCatalog(
    data(options.models ?? [transcription(), tokenTranscription(), speech()], options.providers),
  );
  const deps: PaidCallDependencies = {
    catalog,
    reachable: () => true,
    ledger: { store, outbox, clock, random: () => 0, shortestLifetimeMs: 300_000 },
    circuits: freePassage(reports),
    notice: (notice) => notices.push(notice),
    holdGraceMs: 300_000,
    upstreamDeadlineMs: 900_000,
    uncollectedDailyPicos: options.uncollectedDailyPicos ?? parseUsd('1'),
  };
  const hearing = {
    transcribe: async (call: TranscriptionCall) => {
      log.push('send');
      return (options.hear ?? (async () => transcript({ kind: 'duration', seconds: 2.1 })))(call);
    },
  };
  const speaking = {
    speak: async (call: SpeechCall): Promise<SpeechStream> => {
      log.push('send');
      const bytes = (options.sound ?? (() => pieces('one', 'two', 'three')))(call);
      const close = (): void => {
        state.closed += 1;
      };
      return { mediaType: undefined, bytes, close };
    },
  };
  const caller = { accountId: ACCOUNT, requestId: 'request-1', hostEndsAtMs: undefined };
  return {
    deps,
    clock,
    memory,
    log,
    notices,
    reports,
    state,
    records: () => memory.recordsOf(ACCOUNT),
    account: async () => {
      const found = await memory.readAccount(ACCOUNT);
      if (!found) throw new Error('the account is gone');
      return found;
    },
    transcribe: (
      order: Partial<TranscriptionParams> & { readonly file?: Uint8Array; readonly prompt?: string } = {},
    ) => {
      const { file = Buffer.from('ID3'), prompt, ...rest } = order;
      return transcribe({ ...deps, wires: new Map([['openai_audio', hearing]]) }, caller, {
        modelId: 'scribe-1',
        endUser: undefined,
        dryRun: false,
        validateFor: () => ({
          file: { name: isWav(file) ? 'a.wav' : 'a.mp3', mediaType: '', bytes: file },
          language: undefined,
          prompt,
          temperature: undefined,
        }),
        ...rest,
      });
    },
    speak: (text: string, order: Partial<SpeechParams> = {}) =>
      speak({ ...deps, wires: new Map([['openai_audio', speaking]]) }, caller, {
        modelId: 'voice-1',
        endUser: undefined,
        ignored: [],
        dryRun: false,
        validateFor: () => ({ text, voice: 'alloy', format: 'mp3', speed: undefined }),
        ...order,
      }),
  };
};

/** Records what reaches the client, in order. */
export const listen = (seen: string[]): SpeechSink => ({
  write: (piece) => seen.push(`write ${Buffer.from(piece)}`),
  finish: (piece) => seen.push(`finish ${Buffer.from(piece)}`),
  fail: (error) => seen.push(`fail ${error.code}`),
  close: (receipt) => seen.push(`close ${receipt?.costPicos}`),
});

/** Returns the error of a rejected request. */
export const refusal = async (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'was not rejected',
    (error: unknown) => error,
  );

const isWav = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 4)).toString() === 'RIFF';
