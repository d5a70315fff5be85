/**
 * Hellos that this router refused, reported to one controller that takes such reports: the audit trail is kept there.
 * Equal ones are counted and sent a second later as one; so many different ones wait at most, the rest is counted.
 * Controllers of OpenZiti take none: there the log is all.
 */
import type { X509Certificate } from 'node:crypto';
import type { Clock } from '#base';
import type { Channel } from '#net';
import { ctrlMessages, REFUSED_HELLO, refusedHelloAlert, type RefusedHello } from '#wire/ctrl';
import type { Controller, Controllers } from '../ctrl/controllers.ts';

export interface RefusedHellosOptions {
  readonly routerId: string;
  readonly controllers: Pick<Controllers, 'all'>;
  readonly clock: Clock;
}

/** Controllers take no more alerts in a message. */
const MAX_WAITING = 100;
const REPORT_AFTER_MS = 1_000;

interface Waiting extends Omit<RefusedHello, 'occurrences'> {
  occurrences: number;
}

export class RefusedHellos {
  readonly #options: RefusedHellosOptions;
  readonly #takers = new WeakSet<Channel>();
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RefusedHellosOptions) {
    this.#options = options;
  }

  /** Reads from the data of a ServerHello whether the controller accepts reports. */
  onServerData(data: Readonly<Record<string, string>>, from: Controller): void {
    if (data[REFUSED_HELLO] === 'true') this.#takers.add(from.channel);
  }

  /** `address`: `host:port` of the peer. */
  add(certificate: X509Certificate, address: string, reason: string): void {
    const host = address.slice(0, address.lastIndexOf(':'));
    const key = `${certificate.fingerprint256} ${host} ${reason}`;
    const known = this.#waiting.get(key);
    if (known !== undefined) known.occurrences += 1;
    else if (this.#waiting.size < MAX_WAITING - 1)
      this.#waiting.set(key, {
        certificate: certificate.raw.toString('base64'),
        address: host,
        reason,
        occurrences: 1,
      });
    else this.#addToRest();
    this.#timer ??= setTimeout(() => this.report(), REPORT_AFTER_MS);
    this.#timer.unref();
  }

  /** Sends what waits now. */
  report(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { routerId, controllers, clock } = this.#options;
    const nowMs = clock.nowMs();
    const alerts = [...this.#waiting.values()].map((hello) => refusedHelloAlert(routerId, hello, nowMs));
    this.#waiting.clear();
    const taker = controllers.all().find(({ channel }) => this.#takers.has(channel));
    if (alerts.length > 0) taker?.channel.send(ctrlMessages.alerts.frame({ alerts }));
  }

  close(): void {
    this.report();
  }

  #addToRest(): void {
    const rest = this.#waiting.get('');
    if (rest !== undefined) rest.occurrences += 1;
    else this.#waiting.set('', { certificate: '', address: '', reason: 'overflow', occurrences: 1 });
  }
}
