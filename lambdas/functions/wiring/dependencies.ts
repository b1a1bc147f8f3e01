import type { DeploymentCheck } from '../../checks/deployment-steps.ts';
import type { AccountStore } from '../../core/accounts/account-store.ts';
import type { UpdateLog } from '../../core/accounts/chats.ts';
import type { KeyStore } from '../../core/accounts/key-store.ts';
import type { NotificationSender } from '../../core/accounts/send-notifications.ts';
import type { WebhookSecretStore } from '../../core/accounts/webhook-secret.ts';
import type { Catalog } from '../../core/catalog/catalog.ts';
import type { CircuitStore } from '../../core/circuit/circuit-store.ts';
import type { Clock } from '../../core/clock.ts';
import type { EventPublisher } from '../../core/event-publisher.ts';
import type { ClaimStore, ResponseStore } from '../../core/idempotency/claim-store.ts';
import type { MediaStore, PageFiles } from '../../core/images/media.ts';
import type { AuditCursor } from '../../core/ledger/audit-run.ts';
import type { LedgerStore, Outbox } from '../../core/ledger/ledger.ts';
import type { LedgerRecords } from '../../core/ledger/records.ts';
import type { ServedHolds } from '../../core/ledger/served-holds.ts';
import type { AddressCounters } from '../../core/limits/rate-limit.ts';
import type { MaintenanceStore } from '../../core/maintenance.ts';
import type { MarginMetric, Measure, MetricDimension, MoneyMetric, OperationalEventName } from '../../core/metrics.ts';
import type { ProcessPauses } from '../../core/process-pauses.ts';
import type { VideoFiles, VideoWorkflow } from '../../core/videos/dependencies.ts';
import type { VideoJobStore } from '../../core/videos/video-job.ts';
import type { CallerSecrets } from '../../http/authenticate.ts';
import type { Summary } from '../../http/exchange.ts';
import type { FrontDoor } from '../../http/front-door.ts';
import type { RequestTracing } from '../../http/handler.ts';
import type { ProviderAccess } from '../../providers/credential-choice.ts';
import type { ImageFetch } from '../../providers/image-fetch.ts';
import type { LinkedVideo } from '../../providers/linked-video.ts';
import type { UpstreamHttp } from '../../providers/upstream-http.ts';
import type { WebhookSender } from '../../providers/webhook.ts';
import type { Settings } from '../../settings.ts';

/** Functions that report requests and events to logs and metrics. */
export interface Reporting {
  readonly finished: (requestId: string, summary: Summary) => void;
  readonly notice: (name: OperationalEventName, details: Readonly<Record<string, string>>) => void;
  /** Units are those of lambdas/core/metrics.ts. Values that are passed together are logged on one line. */
  readonly measured: (
    values: Readonly<Partial<Record<Measure | MoneyMetric | MarginMetric, number>>>,
    dimensions?: Readonly<Partial<Record<MetricDimension, string>>>,
  ) => void;
  /** Undefined where no traces are exported (OPS-19). */
  readonly tracing?: Tracing | undefined;
}

/** Traces of the requests of a process. */
export interface Tracing extends RequestTracing {
  /** Exports all finished requests. Returns after at most `limitMs`. Never rejects. */
  readonly flush: (limitMs: number) => Promise<void>;
}

/** Dependencies of a function that only maintains the ledger. */
export interface LedgerFunctionDependencies {
  readonly settings: Settings;
  readonly clock: Clock;
  /** Names what is wrong with the clock; undefined if nothing is. Without it, the own clock is that of the store. */
  readonly clockProblem?: (() => string | undefined | Promise<string | undefined>) | undefined;
  readonly random: () => number;
  readonly ledgerStore: LedgerStore;
  readonly outbox: Outbox;
  /** Undefined if this process serves no requests. */
  readonly servedHolds?: ServedHolds | undefined;
  readonly maintenance: MaintenanceStore;
  readonly reporting: Reporting;
}

/** Dependencies of the function that compares accounts with their records. */
export interface AuditFunctionDependencies {
  readonly clock: Clock;
  readonly ledgerStore: Pick<LedgerStore, 'readAccount'>;
  readonly ledgerRecords: LedgerRecords;
  readonly auditCursor: AuditCursor;
  readonly reporting: Reporting;
}

/** Dependencies of the function that checks the gateway as a client. */
export interface CanaryFunctionDependencies {
  /** Reads what a run needs. Rejects if the public URL is unknown or the secret holds no API key yet. */
  readonly openCheck: () => Promise<DeploymentCheck>;
  readonly clock: Clock;
  readonly reporting: Reporting;
}

/** Dependencies of the function that sends balance notifications. */
export interface NoticesFunctionDependencies {
  readonly clock: Clock;
  readonly random: () => number;
  readonly accounts: AccountStore;
  /** Undefined where there is no bot. */
  readonly sendNotification: NotificationSender | undefined;
  readonly reporting: Reporting;
}

/** Dependencies of the function that publishes usage events. */
export interface UsageEventsFunctionDependencies {
  readonly publish: EventPublisher;
  /** `source` of every event. */
  readonly source: string;
  readonly reporting: Pick<Reporting, 'notice'>;
}

/** Dependencies of the functions that run videos. They hold no secret that authenticates clients. */
export interface VideoFunctionDependencies extends LedgerFunctionDependencies {
  readonly catalog: Catalog;
  readonly circuitStore: CircuitStore;
  readonly videoJobs: VideoJobStore;
  readonly videoFiles: VideoFiles;
  /** Throws if this function has no state machine. */
  readonly videoMachine: VideoWorkflow;
  readonly upstreamHttp: UpstreamHttp;
  /** Pauses of this process. Undefined means that none are known. */
  readonly pauses?: ProcessPauses | undefined;
  /** Fetches video files that a provider's response links to. By default only from public addresses. */
  readonly linkedVideo?: LinkedVideo | undefined;
  /**
   * Chooses the credential of one call, or the one of a stored job. Returns undefined if this environment has no key or
   * no URL for the provider.
   */
  readonly vendorAccess: (providerId: string, credentialId?: string) => ProviderAccess | undefined;
  readonly sendWebhook: WebhookSender;
  readonly webhookSecrets: WebhookSecretStore;
  /** 32 unpredictable bytes. */
  readonly newKeyBytes: () => Uint8Array;
}

/** External dependencies of the HTTP functions: one set per process, another in a test. */
export interface FunctionDependencies extends VideoFunctionDependencies {
  readonly newRequestId: () => string;
  readonly frontDoor: FrontDoor;
  /** Public base URL without a trailing slash; undefined if it is not configured. */
  readonly publicUrl: string | undefined;
  readonly pepper: string;
  /** Older peppers that API keys may still be hashed with, the newest first. */
  readonly olderPeppers: readonly string[];
  readonly secrets: CallerSecrets;
  readonly ledgerRecords: LedgerRecords;
  readonly keys: KeyStore;
  readonly accounts: AccountStore;
  readonly updates: UpdateLog;
  readonly addressCounters: AddressCounters;
  readonly claims: ClaimStore;
  readonly answers: ResponseStore;
  readonly media: MediaStore;
  readonly pages: PageFiles;
  /** 128 random bits in hexadecimal. */
  readonly newMediaToken: () => string;
  /**
   * Returns the problem of a webhook URL, worded for the client. Undefined in AWS, where only the rules for public URLs
   * apply (HOOK-4).
   */
  readonly checkWebhookUrl?: ((url: string) => string | undefined) | undefined;
  /** Fetches images from URLs that clients send. */
  readonly fetchImage: ImageFetch;
  /** Returns a code for each part that does not work (GEN-10). Undefined where the platform watches the parts. */
  readonly problems?: (() => Promise<readonly string[]>) | undefined;
}
