/**
 * Reports to the control plane, in batches, when keys and sessions were last used. A use costs a request one
 * noted time. What could not be reported stays for the next report.
 */
import { messageOf, type Log } from '#base';
import {
  MAX_USAGE_ENTRIES,
  type DomainCertificate,
  type GatewayUsage,
  type SharePortRange,
} from '#domain/gateway-shapes';
import type { Caller } from './caller.ts';
import { KeyCaller, SessionCaller } from './caller-kinds.ts';
import { answerInTime } from './login-control.ts';

export interface UsageReporterOptions {
  readonly report: (usage: GatewayUsage) => Promise<void>;
  readonly certifiedZones: () => readonly string[];
  readonly domains: () => readonly DomainCertificate[];
  readonly tcpPorts: SharePortRange | undefined;
  readonly udpPorts: SharePortRange | undefined;
  readonly log: Log;
  readonly everyMs?: number;
}

const EVERY_MS = 30_000;
/** What happens many times within it is one report. */
const SOON_MS = 1_000;
const CLOSE_MS = 2_000;
/** Further uses are not noted until some were reported. */
const MAX_NOTED = 200_000;

export class UsageReporter {
  readonly #options: UsageReporterOptions;
  readonly #timer: NodeJS.Timeout;
  #noted: Caller[] = [];
  #running: Promise<void> | undefined;
  #soon: NodeJS.Timeout | undefined;
  #isFailing = false;

  constructor(options: UsageReporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.report(), options.everyMs ?? EVERY_MS);
    this.#timer.unref();
  }

  note(caller: Caller, nowMs: number): void {
    caller.lastUsedMs = nowMs;
    if (!caller.isReported || caller.isUnreported || this.#noted.length >= MAX_NOTED) return;
    caller.isUnreported = true;
    this.#noted.push(caller);
  }

  /** Reports within a second, also what happened while another report runs. */
  reportSoon(): void {
    if (this.#soon !== undefined) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      void (this.#running ?? Promise.resolve()).then(() => this.report());
    }, SOON_MS);
    this.#soon.unref();
  }

  /** Never rejects. One report runs at a time. */
  report(): Promise<void> {
    this.#running ??= this.#report().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await answerInTime(
      (async () => {
        await this.#running;
        if (this.#noted.length > 0) await this.report();
      })(),
      CLOSE_MS,
    ).catch(() => {});
  }

  async #report(): Promise<void> {
    const reported = this.#noted.slice(0, MAX_USAGE_ENTRIES);
    this.#noted = this.#noted.slice(reported.length);
    const keys: GatewayUsage['keys'][number][] = [];
    const sessions: GatewayUsage['sessions'][number][] = [];
    for (const caller of reported) {
      caller.isUnreported = false;
      const { lastUsedMs: lastUsedAtMs } = caller;
      if (caller instanceof KeyCaller)
        keys.push({ providerId: caller.issuer.id, name: caller.name, lastUsedAtMs });
      else if (caller instanceof SessionCaller && !caller.isEnded)
        sessions.push({ id: caller.session.id, lastUsedAtMs });
    }
    try {
      const { certifiedZones, domains, tcpPorts = null, udpPorts = null } = this.#options;
      const usage = {
        keys,
        sessions,
        certifiedZones: certifiedZones(),
        domains: domains(),
        tcpPorts,
        udpPorts,
      };
      await answerInTime(this.#options.report(usage));
      this.#isFailing = false;
    } catch (error) {
      for (const caller of reported) this.note(caller, caller.lastUsedMs);
      if (!this.#isFailing) {
        this.#isFailing = true;
        this.#options.log.warn(
          { hop: 'control', cause: messageOf(error) },
          'the use of keys and sessions could not be reported',
        );
      }
    }
  }
}
