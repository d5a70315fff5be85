/** Sends log-ins to the console's form, each from an address that the caller chooses. */
import { Agent, request } from 'node:https';

export interface LogInAnswer {
  /** 0 if the connection is closed without an answer. */
  readonly status: number;
  readonly tookMs: number;
}

export class LogInSender {
  readonly #url: URL;
  readonly #ca: string;
  readonly #agents: Map<string, Agent> | undefined;
  readonly #maxSockets: number;

  /** With `socketsPerAddress` log-ins of an address share so many connections; else each has one of its own. */
  constructor(apiUrl: string, ca: string, socketsPerAddress?: number) {
    this.#url = new URL(apiUrl);
    this.#ca = ca;
    this.#agents = socketsPerAddress === undefined ? undefined : new Map();
    this.#maxSockets = socketsPerAddress ?? 0;
  }

  send(localAddress: string, fields: Readonly<Record<string, string>>): Promise<LogInAnswer> {
    const startedMs = performance.now();
    const { promise, resolve } = Promise.withResolvers<LogInAnswer>();
    const end = (status: number) => resolve({ status, tookMs: performance.now() - startedMs });
    const { hostname: host, port, origin } = this.#url;
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded', host: `${host}:${port}` };
    const sent = request(
      {
        host: '127.0.0.1',
        servername: host,
        port,
        path: '/console/log-in',
        method: 'POST',
        ca: this.#ca,
        agent: this.#agentOf(localAddress),
        localAddress,
        headers,
        timeout: 30_000,
        checkServerIdentity: () => undefined,
      },
      (answer) => {
        answer.resume().once('end', () => end(answer.statusCode ?? 0));
        answer.once('error', () => end(0));
      },
    );
    sent.once('timeout', () => sent.destroy()).once('error', () => end(0));
    sent.end(new URLSearchParams(fields).toString());
    return promise;
  }

  #agentOf(address: string): Agent | false {
    if (this.#agents === undefined) return false;
    let agent = this.#agents.get(address);
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true, maxSockets: this.#maxSockets });
      this.#agents.set(address, agent);
    }
    return agent;
  }
}
