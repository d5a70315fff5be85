/**
 * Changes between processes over one PostgreSQL: announced with the commit that made them, received on a separate
 * connection. Notifications are lost while that connection is down, so listeners then get `EVERYTHING`.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Client } from 'pg';
import { BackOff, messageOf, type Log } from '#base';
import { waitAtMost } from '#net';
import { decodePayload, encodePayloads } from './change-payload.ts';
import { errorOfPostgres } from './store-errors.ts';
import { EVERYTHING, type Change, type StoreTransaction } from './store.ts';

const CHANNEL = 'frontdoor_changes';

export interface ChangeChannelOptions {
  /** Creates a client that is not connected yet. */
  readonly newClient: () => Promise<Client>;
  /** Called with changes of other processes. */
  readonly onChanges: (changes: readonly Change[]) => void;
  readonly log: Log;
  /** Interval of the connection's liveness checks, and their deadline. */
  readonly heartbeatMs?: number | undefined;
}

const HEARTBEAT_MS = 5_000;
/** A replica does not wait longer for a database that does not answer. */
const CATCH_UP_MS = 2_000;

export class ChangeChannel {
  readonly #options: ChangeChannelOptions;
  readonly #backOff = new BackOff({ minMs: 100, maxMs: 2_000, factor: 2 });
  readonly #heartbeat: NodeJS.Timeout;
  /** Expected notifications of this process's own transactions, whose changes it reports itself. */
  readonly #own = new Map<string, number>();
  /** Notifications of this process that mark a place among those of all, by their id. */
  readonly #marks = new Map<string, () => void>();
  #client: Client | undefined;
  #proving: Client | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(options: ChangeChannelOptions) {
    this.#options = options;
    const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#heartbeat = setInterval(() => void this.#prove(heartbeatMs), heartbeatMs).unref();
  }

  /** Resolves when changes of others arrive. Errors: `unavailable`. */
  static async open(options: ChangeChannelOptions): Promise<ChangeChannel> {
    const channel = new ChangeChannel(options);
    try {
      await channel.#connect();
    } catch (error) {
      await channel.close();
      throw errorOfPostgres(error);
    }
    return channel;
  }

  /** Called inside the transaction that makes the changes. Others are notified when it is committed. */
  async announce(trx: StoreTransaction, transactionId: string, changes: readonly Change[]): Promise<void> {
    const payloads = encodePayloads(transactionId, changes);
    if (this.#client !== undefined) this.#own.set(transactionId, payloads.length);
    for (const payload of payloads) {
      await sql`select pg_notify(${CHANNEL}, ${payload})`.execute(trx);
    }
  }

  /** An announced transaction did not commit regularly. If its notification arrives anyway, it counts. */
  disown(transactionId: string): void {
    this.#own.delete(transactionId);
  }

  /**
   * Resolves when all changes that were committed before this call have been passed on, or after some seconds. The
   * database delivers notifications in the order of the commits, so one of our own comes after all of these.
   */
  async caughtUp(): Promise<void> {
    const client = this.#client;
    if (client === undefined) return;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#marks.set(id, resolve);
    // A connection that fails ends elsewhere, and listeners read everything again.
    client.query('select pg_notify($1, $2)', [CHANNEL, encodePayloads(id, [])[0]]).catch(() => resolve());
    await waitAtMost(promise, CATCH_UP_MS);
    this.#marks.delete(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#reconnect);
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #connect(): Promise<void> {
    const client = await this.#options.newClient();
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    client.on('error', (error) => this.#lose(client, error));
    client.on('end', () => this.#lose(client, new Error('closed by the server')));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      void client.end();
      throw error;
    }
    if (this.#closed) return void client.end();
    this.#own.clear();
    this.#client = client;
  }

  #receive(payload: string): void {
    const received = decodePayload(payload);
    if (received === undefined) {
      this.#options.log.warn({ channel: CHANNEL }, 'the database reported a change that cannot be read');
      this.#options.onChanges([EVERYTHING]);
      return;
    }
    const { transactionId, changes } = received;
    if (changes.length === 0) {
      this.#marks.get(transactionId)?.();
      return;
    }
    const expected = this.#own.get(transactionId);
    if (expected === undefined) this.#options.onChanges(changes);
    else if (expected > 1) this.#own.set(transactionId, expected - 1);
    else this.#own.delete(transactionId);
  }

  #lose(client: Client, error: Error): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#own.clear();
    this.#options.log.warn(
      { cause: messageOf(error) },
      'no notifications of changes by others; reconnecting',
    );
    void client.end();
    this.#connectLater();
  }

  #connectLater(): void {
    if (this.#closed) return;
    this.#reconnect = setTimeout(async () => {
      try {
        await this.#connect();
        this.#backOff.reset();
        this.#options.log.info({}, 'notifications of changes by others work again');
        this.#options.onChanges([EVERYTHING]);
      } catch {
        this.#connectLater();
      }
    }, this.#backOff.next()).unref();
  }

  /** A server that vanished leaves a connection that looks alive. */
  async #prove(deadlineMs: number): Promise<void> {
    const client = this.#client;
    if (client === undefined || client === this.#proving) return;
    this.#proving = client;
    let isAnswered = false;
    const timer = setTimeout(async () => {
      // After a pause of this process, an answer that has already arrived is read first.
      await turn();
      if (!isAnswered) this.#lose(client, new Error('no sign of life'));
    }, deadlineMs);
    await client.query('select 1').catch((error: Error) => this.#lose(client, error));
    isAnswered = true;
    clearTimeout(timer);
    this.#proving = undefined;
  }
}
