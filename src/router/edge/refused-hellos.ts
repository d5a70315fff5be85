/**
 * Reports refused hellos to one controller that accepts such reports, for the audit trail. Equal refusals are counted
 * and sent as one report after a second. A limited number of different ones wait; further ones are only counted.
 * OpenZiti's controllers accept no reports, so there the refusals are only logged.
 */
import type { X509Certificate } from 'node:crypto';
import type { Clock } from '#base';
import type { Channel } from '#net/channel';
import { ctrlMessages, REFUSED_HELLO, refusedHelloAlert, type RefusedHello } from '#wire/ctrl';
import type { Controller, Controllers } from '../ctrl/controllers.ts';

export interface RefusedHellosOptions {
  readonly routerId: string;
  readonly controllers: Pick<Controllers, 'all'>;
  readonly clock: Clock;
}

/** Maximum number of alerts that controllers accept in one message. */
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

  /** `address` is the peer's `host:port`. */
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

  /** Sends the waiting reports now. */
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
