import type { AccountStore } from '../../../lambdas/core/accounts/account-store.ts';
import type { AnswerStore, ClaimStore } from '../../../lambdas/core/idempotency/claim-store.ts';
import type { MediaStore } from '../../../lambdas/core/images/media-store.ts';
import type { LedgerStore } from '../../../lambdas/core/ledger/ledger-store.ts';
import type { Outbox } from '../../../lambdas/core/ledger/outbox.ts';
import type { VideoJobStore } from '../../../lambdas/core/videos/job-store.ts';
import type { VideoFiles } from '../../../lambdas/core/videos/video-files.ts';
import type { VideoMachine } from '../../../lambdas/core/videos/video-machine.ts';

/** Stands between a caller and every call to a port. */
export type Through<Method extends string> = <T>(method: Method, call: () => Promise<T>) => Promise<T>;

export const ledgerThrough = (through: Through<keyof LedgerStore>, store: LedgerStore): LedgerStore => ({
  hold: (request) => through('hold', () => store.hold(request)),
  putRecord: (record) => through('putRecord', () => store.putRecord(record)),
  apply: (record, amountPicos) => through('apply', () => store.apply(record, amountPicos)),
  readAccount: (accountId) => through('readAccount', () => store.readAccount(accountId)),
  readRecord: (accountId, holdId) => through('readRecord', () => store.readRecord(accountId, holdId)),
  createAccount: (accountId) => through('createAccount', () => store.createAccount(accountId)),
  credit: (request) => through('credit', () => store.credit(request)),
  due: (nowMs) => through('due', () => store.due(nowMs)),
  reschedule: (accountId, atMs) => through('reschedule', () => store.reschedule(accountId, atMs)),
});

export const outboxThrough = (through: Through<keyof Outbox>, outbox: Outbox): Outbox => ({
  put: (note) => through('put', () => outbox.put(note)),
  read: (holdId) => through('read', () => outbox.read(holdId)),
  list: () => through('list', () => outbox.list()),
  remove: (holdId) => through('remove', () => outbox.remove(holdId)),
});

export const claimsThrough = (through: Through<keyof ClaimStore>, claims: ClaimStore): ClaimStore => ({
  claim: (request) => through('claim', () => claims.claim(request)),
  renew: (ref, owner, leaseUntilMs) => through('renew', () => claims.renew(ref, owner, leaseUntilMs)),
  prepare: (ref, owner, prepared, expiresAtMs) =>
    through('prepare', () => claims.prepare(ref, owner, prepared, expiresAtMs)),
  complete: (ref, owner) => through('complete', () => claims.complete(ref, owner)),
  free: (ref, owner, dispatches) => through('free', () => claims.free(ref, owner, dispatches)),
  takeOver: (request) => through('takeOver', () => claims.takeOver(request)),
  read: (ref) => through('read', () => claims.read(ref)),
});

export const answersThrough = (through: Through<keyof AnswerStore>, answers: AnswerStore): AnswerStore => ({
  put: (objectName, content) => through('put', () => answers.put(objectName, content)),
  get: (objectName) => through('get', () => answers.get(objectName)),
});

export const jobsThrough = (through: Through<keyof VideoJobStore>, jobs: VideoJobStore): VideoJobStore => ({
  create: (order, dueAtMs) => through('create', () => jobs.create(order, dueAtMs)),
  abandon: (id) => through('abandon', () => jobs.abandon(id)),
  read: (id) => through('read', () => jobs.read(id)),
  locate: (id) => through('locate', () => jobs.locate(id)),
  setUpstream: (id, upstreamId) => through('setUpstream', () => jobs.setUpstream(id, upstreamId)),
  refuse: (id, failure) => through('refuse', () => jobs.refuse(id, failure)),
  advance: (id, progress) => through('advance', () => jobs.advance(id, progress)),
  noteFailure: (id, failure) => through('noteFailure', () => jobs.noteFailure(id, failure)),
  noteFile: (id, file, tokens) => through('noteFile', () => jobs.noteFile(id, file, tokens)),
  end: (id, ending) => through('end', () => jobs.end(id, ending)),
  list: (accountId, range) => through('list', () => jobs.list(accountId, range)),
  remove: (id) => through('remove', () => jobs.remove(id)),
  due: (nowMs) => through('due', () => jobs.due(nowMs)),
  postpone: (id, dueAtMs) => through('postpone', () => jobs.postpone(id, dueAtMs)),
});

export const filesThrough = (through: Through<keyof VideoFiles>, files: VideoFiles): VideoFiles => ({
  put: (videoId, bytes) => through('put', () => files.put(videoId, bytes)),
  open: (videoId, range) => through('open', () => files.open(videoId, range)),
  remove: (videoId) => through('remove', () => files.remove(videoId)),
});

export const mediaThrough = (through: Through<keyof MediaStore>, media: MediaStore): MediaStore => ({
  put: (name, bytes, mediaType) => through('put', () => media.put(name, bytes, mediaType)),
  open: (name) => through('open', () => media.open(name)),
});

export const machineThrough = (through: Through<'start'>, machine: VideoMachine): VideoMachine => ({
  start: (videoId) => through('start', () => machine.start(videoId)),
});

export const accountsThrough = (through: Through<keyof AccountStore>, accounts: AccountStore): AccountStore => ({
  open: (account) => through('open', () => accounts.open(account)),
  chat: (chatId) => through('chat', () => accounts.chat(chatId)),
  profile: (accountId) => through('profile', () => accounts.profile(accountId)),
  currentKey: (accountId) => through('currentKey', () => accounts.currentKey(accountId)),
  putFirstKey: (accountId, key, atMs) => through('putFirstKey', () => accounts.putFirstKey(accountId, key, atMs)),
  replaceKey: (replacement) => through('replaceKey', () => accounts.replaceKey(replacement)),
  revokeKey: (accountId, hash) => through('revokeKey', () => accounts.revokeKey(accountId, hash)),
  markShown: (accountId, hash) => through('markShown', () => accounts.markShown(accountId, hash)),
  setBlocked: (accountId, isBlocked, hash) =>
    through('setBlocked', () => accounts.setBlocked(accountId, isBlocked, hash)),
  setThreshold: (accountId, picos) => through('setThreshold', () => accounts.setThreshold(accountId, picos)),
  setLanguage: (chatId, language) => through('setLanguage', () => accounts.setLanguage(chatId, language)),
  setChatClosed: (chatId, isClosed) => through('setChatClosed', () => accounts.setChatClosed(chatId, isClosed)),
  markNoticed: (chatId, version) => through('markNoticed', () => accounts.markNoticed(chatId, version)),
});
