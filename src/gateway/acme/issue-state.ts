/**
 * What the issuer remembers over restarts: pauses after failures, the new certificates of the last seven days, and the
 * orders of the last hours. A file
 * that cannot be read is set aside, and the certificates on disk count as new ones then.
 */
import { readFile } from 'node:fs/promises';
import { messageOf, type Clock, type Log } from '#base';
import { certificateOrdersShape, type CertificateOrders } from '#domain/agent-shapes';
import { setAside, writeFileDurably } from '#net/files';
import type { NeededCertificate } from './certificate-source.ts';
import {
  COUNTED_MS,
  countedZone,
  LONGEST_PAUSE_MS,
  ORDERS_MS,
  passedBound,
  pauseMs,
  zoneOf,
  type OrderCounts,
} from './issue-policy.ts';

/** More names than could fail in a day. The oldest pause is forgotten first. */
const MAX_PAUSES = 2_000;
const MAX_ISSUED = 20_000;
const MAX_ORDERS_KEPT = 20_000;

interface Pause {
  failures: number;
  nextAtMs: number;
}

export interface IssueStateOptions {
  readonly file: string;
  readonly directoryUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1. */
  readonly random?: (() => number) | undefined;
}

export class IssueState {
  readonly #options: IssueStateOptions;
  readonly #pauses = new Map<string, Pause>();
  #issued: CertificateOrders['issued'][number][];
  #orders: CertificateOrders['orders'][number][];
  #writing: Promise<void> = Promise.resolve();
  #isUnwritten = false;

  private constructor(options: IssueStateOptions, { pauses, issued, orders }: CertificateOrders) {
    this.#options = options;
    for (const { name, failures, nextAtMs } of pauses) this.#pauses.set(name, { failures, nextAtMs });
    this.#issued = [...issued];
    this.#orders = [...orders];
  }

  /** `present` are the certificates on disk. */
  static async load(
    options: IssueStateOptions,
    present: readonly { readonly name: string; readonly notBeforeMs: number }[],
  ): Promise<IssueState> {
    const { file, directoryUrl, log } = options;
    const nothing = { directoryUrl, pauses: [], issued: [], orders: [] };
    let problem: string;
    try {
      const read = certificateOrdersShape.readText(await readFile(file, 'utf8'));
      if ('value' in read) {
        const { directoryUrl: former } = read.value;
        if (former !== '' && former !== directoryUrl && present.length > 0)
          log.warn(
            { hop: 'gateway', former, directoryUrl },
            'certificates of another authority stay in use until they are due: remove acme/certificates to replace them now',
          );
        return new IssueState(options, read.value);
      }
      ({ problem } = read);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new IssueState(options, nothing);
      problem = messageOf(error);
    }
    const fields = { hop: 'gateway', file, cause: problem, movedTo: await setAside(file) };
    log.error(fields, 'the state of automatic certificates is lost: those on disk count as new ones');
    const issued = present.map(({ name, notBeforeMs: atMs }) => ({
      zone: zoneOf(name),
      atMs,
      organizationId: '',
    }));
    return new IssueState(options, { ...nothing, issued });
  }

  /** The time until the next attempt for this name; 0 if it may be now. Failures pause a custom frontend as a whole. */
  pauseMs({ name, isCustom }: NeededCertificate, isRenewal: boolean): number {
    const ofName = this.#pauseMs(name);
    return isCustom && !isRenewal ? Math.max(ofName, this.#pauseMs(wholeOf(name))) : ofName;
  }

  #pauseMs(key: string): number {
    const pause = this.#pauses.get(key);
    if (pause === undefined) return 0;
    const waitMs = pause.nextAtMs - this.#options.clock.nowMs();
    // The clock was set back.
    return waitMs > 2 * LONGEST_PAUSE_MS ? 0 : Math.max(0, waitMs);
  }

  /** The bound that a certificate for a name that had none would pass; `pending` counts what is on order. */
  passedBound(needed: NeededCertificate, pending: OrderCounts): string | undefined {
    this.#forgetOld();
    const zone = countedZone(needed);
    let { inZone, inZoneOfOrganization, ofOrganization } = pending;
    for (const issued of this.#issued) {
      if (issued.zone !== zone) continue;
      inZone += 1;
      if (issued.organizationId === needed.organizationId) inZoneOfOrganization += 1;
    }
    for (const { organizationId } of this.#orders)
      if (organizationId === needed.organizationId) ofOrganization += 1;
    return passedBound({ inZone, inZoneOfOrganization, ofOrganization }, needed);
  }

  noteIssued(needed: NeededCertificate, isRenewal: boolean): void {
    const { name, organizationId } = needed;
    this.#pauses.delete(name);
    this.#pauses.delete(wholeOf(name));
    const atMs = this.#options.clock.nowMs();
    if (!isRenewal) {
      this.#issued.push({ zone: countedZone(needed), atMs, organizationId });
      this.#orders.push({ organizationId, atMs });
    }
    this.#save();
  }

  /** Returns the time until the next attempt, at least `leastMs`. */
  noteFailure(
    { name, organizationId, isCustom }: NeededCertificate,
    isRenewal: boolean,
    leastMs = 0,
  ): number {
    const nowMs = this.#options.clock.nowMs();
    const key = isCustom && !isRenewal ? wholeOf(name) : name;
    const failures = (this.#pauses.get(key)?.failures ?? 0) + 1;
    const planned = pauseMs(failures, this.#options.random?.() ?? Math.random());
    const waitMs = Math.min(LONGEST_PAUSE_MS, Math.max(leastMs, planned));
    // The newest is the last.
    this.#pauses.delete(key);
    this.#pauses.set(key, { failures, nextAtMs: nowMs + waitMs });
    if (this.#pauses.size > MAX_PAUSES) this.#pauses.delete(this.#pauses.keys().next().value!);
    if (!isRenewal) this.#orders.push({ organizationId, atMs: nowMs });
    this.#save();
    return waitMs;
  }

  forgetPauses(): void {
    if (this.#pauses.size === 0) return;
    this.#pauses.clear();
    this.#save();
  }

  /** Resolves when everything so far was written, or could not be written. */
  get written(): Promise<void> {
    return this.#writing;
  }

  #save(): void {
    if (this.#isUnwritten) return;
    this.#isUnwritten = true;
    const { file, log } = this.#options;
    this.#writing = this.#writing.then(async () => {
      this.#isUnwritten = false;
      this.#forgetOld();
      const pauses = Array.from(this.#pauses, ([name, pause]) => ({ name, ...pause }));
      const { directoryUrl } = this.#options;
      const state = certificateOrdersShape.numbered({
        directoryUrl,
        pauses,
        issued: this.#issued,
        orders: this.#orders,
      });
      try {
        await writeFileDurably(file, `${JSON.stringify(state)}\n`);
      } catch (error) {
        const fields = { hop: 'gateway', file, cause: messageOf(error) };
        log.error(fields, 'the state of automatic certificates could not be written');
      }
    });
  }

  #forgetOld(): void {
    const nowMs = this.#options.clock.nowMs();
    // An entry far ahead is from before the clock was set back.
    this.#issued = this.#issued.filter(({ atMs }) => Math.abs(nowMs - atMs) < COUNTED_MS).slice(-MAX_ISSUED);
    this.#orders = this.#orders
      .filter(({ atMs }) => Math.abs(nowMs - atMs) < ORDERS_MS)
      .slice(-MAX_ORDERS_KEPT);
  }
}

/** The key of the pause of all names of a zone. */
function wholeOf(name: string): string {
  return `.${zoneOf(name)}`;
}
