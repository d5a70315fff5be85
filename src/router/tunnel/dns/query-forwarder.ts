/**
 * Queries that go to upstreams: bounded in number, in total and for each client. Equal queries that wait at the same time
 * are one query to the upstreams, so that a client that repeats its query does not make forged answers more likely.
 */
import { addressKey, isLoopbackHost } from '#base';
import type { DnsQuery } from './dns-query.ts';
import type { Upstreams } from './upstreams.ts';

const MAX_FORWARDED = 2_048;
/** Maximum waiting queries of a client on another machine. Programs of this machine are all one client. */
const MAX_FORWARDED_PER_CLIENT = 256;
/** Maximum waiting queries with one name. More of them come back from an upstream that is a loop. */
const MAX_FORWARDED_PER_NAME = 64;
/** Maximum clients that wait for the answer to equal queries. */
const MAX_WAITING_CLIENTS = 64;
const ID_BYTES = 2;

/** Receives an answer with the id of the client's query, or undefined if there is none. */
export type Forwarded = (answer: Buffer | undefined) => void;

interface Waiting {
  readonly id: number;
  readonly forwarded: Forwarded;
}

export class QueryForwarder {
  readonly #upstreams: Upstreams;
  /** Clients that wait, by everything in the query except its id. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #perClient = new Map<string, number>();
  readonly #perName = new Map<string, number>();

  constructor(upstreams: Upstreams) {
    this.#upstreams = upstreams;
  }

  /** Calls `forwarded` once. The message must not be changed afterwards. */
  forward(
    message: Buffer,
    { name, questionEnd }: DnsQuery,
    client: { readonly address: string; readonly isStream: boolean },
    forwarded: Forwarded,
  ): void {
    const { isStream } = client;
    const key = `${isStream ? 't' : 'u'}${message.toString('latin1', ID_BYTES)}`;
    const entry = { id: message.readUInt16BE(0), forwarded };
    const others = this.#waiting.get(key);
    if (others !== undefined) {
      if (others.length < MAX_WAITING_CLIENTS) others.push(entry);
      else forwarded(undefined);
      return;
    }
    const clientKey = isLoopbackHost(client.address) ? undefined : addressKey(client.address);
    if (!this.#hasPlace(clientKey, name)) {
      forwarded(undefined);
      return;
    }
    const waiting = [entry];
    this.#waiting.set(key, waiting);
    add(this.#perName, name, 1);
    if (clientKey !== undefined) add(this.#perClient, clientKey, 1);
    this.#upstreams.ask({ message, questionEnd, isStream }, (answer) => {
      this.#waiting.delete(key);
      add(this.#perName, name, -1);
      if (clientKey !== undefined) add(this.#perClient, clientKey, -1);
      for (const { id, forwarded: deliver } of waiting)
        deliver(answer === undefined ? undefined : ofClient(answer, id));
    });
  }

  #hasPlace(clientKey: string | undefined, name: string): boolean {
    return (
      this.#waiting.size < MAX_FORWARDED &&
      (this.#perName.get(name) ?? 0) < MAX_FORWARDED_PER_NAME &&
      (clientKey === undefined || (this.#perClient.get(clientKey) ?? 0) < MAX_FORWARDED_PER_CLIENT)
    );
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Returns a copy, because several clients can receive the same answer. */
function ofClient(answer: Buffer, id: number): Buffer {
  const copy = Buffer.from(answer);
  copy.writeUInt16BE(id, 0);
  return copy;
}
