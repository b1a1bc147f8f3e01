/** Facts about a response so far. */
export interface Reading {
  readonly state: 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';
  readonly text: string;
  readonly media?: Media | undefined;
  readonly job?: Job | undefined;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
  readonly firstByteMs?: number | undefined;
  readonly totalMs?: number | undefined;
  readonly usage?: Usage | undefined;
  readonly costUsd?: string | undefined;
  readonly balanceUsd?: string | undefined;
  /** Output limit that the gateway chose because the balance was too low. */
  readonly maxTokens?: string | undefined;
  readonly error?: ServiceError | undefined;
  readonly retryAfter?: string | undefined;
}

export interface Media {
  readonly kind: 'image' | 'audio' | 'video';
  /** Path on the gateway, or the URL of a file in the browser's memory. */
  readonly url: string;
  /** Name for a download. */
  readonly file: string;
}

/** A video that the gateway creates in the background. */
export interface Job {
  readonly id: string;
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed';
  readonly progress: number;
  readonly size: string;
  readonly seconds: string;
  readonly error: ServiceError | null;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ServiceError {
  readonly code: string;
  readonly message: string;
}

/** Access of a response's reader to the page and to the gateway. */
export interface Reader {
  readonly show: (change: Partial<Reading>) => void;
  /** Milliseconds since the request was sent. */
  readonly elapsed: () => number;
  /** Sends a GET with the API key. Rejects after the request was canceled. */
  readonly get: (path: string) => Promise<Response>;
  /** Resolves after the time, in ms. Rejects after the request was canceled. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Returns the error of an error response. A proxy can respond without the gateway's error object. */
export const readError = async (response: Response): Promise<ServiceError> => {
  const text = await response.text();
  try {
    const { error }: { error: ServiceError } = JSON.parse(text);
    return { code: error.code, message: error.message };
  } catch {
    return { code: `status ${response.status}`, message: text.slice(0, 200) };
  }
};

/** Path of the receipt of a request. */
export const receiptPath = (requestId: string): string => `/api/usage/${encodeURIComponent(requestId)}`;
