/**
 * `/agent/v1` of a control plane: the shares of an agent's own environment. For environments alone; their certificate is
 * the credential. Each question and answer has a shape of `#domain`.
 */
import type { Log } from '#base';
import { FORMAT_HEADER, type LostEntry } from '#base/shapes';
import {
  agentSelfShape,
  hostedShareRequestShape,
  hostedShareShape,
  hostedSharesShape,
  type HostedShare,
  type HostedShareRequest,
} from '#domain/agent-shapes';
import type { JsonAnswer, JsonRequest } from '#net/http';
import { checkStatus, shapeOf } from './edge-answer.ts';
import { refusalOf } from './edge-failure.ts';
import type { EdgeConnection } from './edge-connection.ts';

export class AgentApiClient {
  readonly #connection: EdgeConnection;
  readonly #log: Log;
  /** The fields that the last list of shares lost: the list is fetched every few seconds. */
  #lost = '';

  constructor(connection: EdgeConnection, log: Log) {
    this.#connection = connection;
    this.#log = log;
  }

  /** Returns all shares that this environment hosts. An unreadable one is logged and left out. */
  async hostedShares(): Promise<readonly HostedShare[]> {
    const answer = await this.#request({ method: 'GET', path: '/agent/v1/shares' }, 200);
    const { value, lost } = shapeOf(answer, hostedSharesShape, this.#connection.hop);
    this.#logLost(lost);
    return value;
  }

  /**
   * Creates a share of this environment, or reclaims its name. Rejects with `conflict` if another environment
   * holds it.
   */
  async createShare(request: HostedShareRequest): Promise<HostedShare> {
    const headers = { [FORMAT_HEADER]: String(hostedShareRequestShape.format) };
    const call = { method: 'POST', path: '/agent/v1/shares', headers, body: request } as const;
    return shapeOf(await this.#change(call, 201), hostedShareShape, this.#connection.hop).value;
  }

  /** Rejects with `notFound` if this environment has no share with the token. */
  async releaseShare(token: string): Promise<void> {
    await this.#change({ method: 'DELETE', path: `/agent/v1/shares/${encodeURIComponent(token)}` }, 204);
  }

  async reportVersion(version: string): Promise<void> {
    const headers = { [FORMAT_HEADER]: String(agentSelfShape.format) };
    await this.#request({ method: 'PUT', path: '/agent/v1/self', headers, body: { version } }, 204);
  }

  /** Sends what an operator requested, so that a refusal is the sentence of the control plane. */
  async #change(request: JsonRequest, expected: number): Promise<JsonAnswer> {
    const answer = await this.#connection.request(request);
    if (answer.status !== expected) throw refusalOf(answer, this.#connection.hop);
    return answer;
  }

  async #request(request: JsonRequest, expected: number): Promise<JsonAnswer> {
    const answer = await this.#connection.request(request);
    checkStatus(answer, expected, this.#connection.hop);
    return answer;
  }

  #logLost(lost: readonly LostEntry[]): void {
    const fields = lost.map(({ index, field }) => `${index}.${field}`).join();
    if (fields === this.#lost) return;
    this.#lost = fields;
    const first = lost[0];
    if (first === undefined) return;
    this.#log.error(
      { hop: 'control', shares: lost.length, field: first.field, rule: first.rule },
      'shares of this environment cannot be read and are left as they are; upgrade this agent',
    );
  }
}
