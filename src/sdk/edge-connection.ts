/**
 * Requests to one edge API with the certificate of one identity, over a connection that is kept. Knows nothing of what
 * is asked: `EdgeApiClient` is OpenZiti's API over it, `AgentApiClient` and `GatewayApiClient` are ours.
 */
import { JsonClient, type IdentityFile, type JsonAnswer, type JsonRequest, type StreamAnswer } from '#net';

export interface EdgeConnectionOptions {
  readonly identity: IdentityFile;
  /** Whole requests; 10 s when absent. */
  readonly timeoutMs?: number | undefined;
}

export class EdgeConnection {
  readonly #timeoutMs: number | undefined;
  #identity: IdentityFile;
  #http: JsonClient;
  #isClosed = false;

  constructor(options: EdgeConnectionOptions) {
    this.#timeoutMs = options.timeoutMs;
    this.#identity = options.identity;
    this.#http = this.#open();
  }

  get identity(): IdentityFile {
    return this.#identity;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** For messages: `the edge API at https://…`. */
  get hop(): string {
    return `the edge API at ${this.#identity.apiUrl}`;
  }

  request(request: JsonRequest): Promise<JsonAnswer> {
    return this.#http.request(request);
  }

  /** See `JsonClient.stream`. */
  stream(request: JsonRequest, silenceMs: number, signal: AbortSignal): Promise<StreamAnswer> {
    return this.#http.stream(request, silenceMs, signal);
  }

  /** A renewed certificate: later requests use it. */
  async useIdentity(identity: IdentityFile): Promise<void> {
    const old = this.#http;
    this.#identity = identity;
    this.#http = this.#open();
    await old.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#http.close();
  }

  #open(): JsonClient {
    const { apiUrl, caPem, certPem, keyPem } = this.#identity;
    return new JsonClient({
      ...{ origin: apiUrl, ca: caPem, certPem, keyPem },
      timeoutMs: this.#timeoutMs,
    });
  }
}
