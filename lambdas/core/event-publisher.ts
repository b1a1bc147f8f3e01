/** Event in the JSON format of CloudEvents 1.0: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md */
export interface CloudEvent {
  readonly specversion: '1.0';
  /** The same in every delivery of the event. `source` and `id` together identify it. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  /** ISO 8601, UTC. */
  readonly time?: string;
  readonly datacontenttype: 'application/json';
  readonly data: object;
}

export interface Publication {
  /** Ids of the events that may not have arrived, and must be published again. */
  readonly failed: ReadonlySet<string>;
  /** Why the first of them failed, without a secret. Undefined if all have arrived. */
  readonly reason?: string;
}

/** Publishes events, each at least once unless it is returned as failed. Does not throw for a receiver that is down. */
export type EventPublisher = (events: readonly CloudEvent[]) => Promise<Publication>;
