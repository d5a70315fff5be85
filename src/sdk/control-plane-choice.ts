/**
 * Decides which of several control planes a client uses. The client stays at one until that fails, then takes a random
 * other one that has not failed lately, and returns to the one at which it enrolled (its home) after a random pause,
 * which grows while the home fails again soon. No I/O; the caller probes.
 */
import { BackOff, type Clock } from '#base';

/** Addresses that a client keeps; further ones are ignored. */
export const MAX_CONTROL_PLANES = 16;
const MAX_URL_CHARS = 300;
/** An address that failed within this time is used only if all others did, too. */
const SUSPECT_MS = 30_000;
/** The first pause is 60 to 120 s, so that the clients of a control plane come back one after the other. */
const RETURN_PAUSE = { minMs: 90_000, maxMs: 1_800_000, factor: 2, jitter: 1 / 3 };
/** After this time at home, the next pause is the first one again. */
const STEADY_MS = 600_000;

export interface ControlPlaneChoiceOptions {
  /** `https://host:port` of the control plane at which the client enrolled. */
  readonly home: string;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random?: (() => number) | undefined;
}

export class ControlPlaneChoice {
  readonly home: string;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #pause: BackOff;
  readonly #failedAtMs = new Map<string, number>();
  #offline = new Set<string>();
  #urls: readonly string[];
  #current: string;
  #returnAtMs = Number.POSITIVE_INFINITY;
  #homeSinceMs: number;

  constructor({ home, clock, random = Math.random }: ControlPlaneChoiceOptions) {
    this.home = home;
    this.#clock = clock;
    this.#random = random;
    this.#pause = new BackOff(RETURN_PAUSE, random);
    this.#urls = [home];
    this.#current = home;
    this.#homeSinceMs = clock.monotonicMs();
  }

  get current(): string {
    return this.#current;
  }

  /** All addresses, the home first. */
  get urls(): readonly string[] {
    return this.#urls;
  }

  /** Whether it is time to probe the home. */
  get isReturnDue(): boolean {
    return this.#clock.monotonicMs() >= this.#returnAtMs;
  }

  /**
   * Replaces the addresses. The home and the one in use stay, whatever the list contains. Those offline are used if
   * all others fail. Returns whether the list of both changed.
   */
  replace(online: readonly string[], offline: readonly string[] = []): boolean {
    const wanted = new Set([this.home, this.#current]);
    for (const url of [...online, ...offline]) {
      const origin = originOf(url);
      if (origin !== undefined && wanted.size < MAX_CONTROL_PLANES) wanted.add(origin);
    }
    this.#offline = new Set(offline.map((url) => originOf(url) ?? ''));
    for (const url of online) this.#offline.delete(originOf(url) ?? '');
    if (wanted.size === this.#urls.length && this.#urls.every((url) => wanted.has(url))) return false;
    this.#urls = [...wanted];
    for (const url of this.#failedAtMs.keys()) if (!wanted.has(url)) this.#failedAtMs.delete(url);
    return true;
  }

  /** The one in use, or another one if that was tried; undefined if all were. */
  next(tried: ReadonlySet<string>): string | undefined {
    if (!tried.has(this.#current)) return this.#current;
    return this.#bestOf(this.#urls.filter((url) => !tried.has(url)));
  }

  /** Notes that a control plane failed, and leaves it if it is in use. Returns the new one, or undefined. */
  failed(url: string): string | undefined {
    this.#failedAtMs.set(url, this.#clock.monotonicMs());
    if (url !== this.#current) return undefined;
    const other = this.#bestOf(this.#urls.filter((one) => one !== url));
    if (other !== undefined) this.use(other);
    return other;
  }

  /** Whether another one than `url` has not failed lately. */
  hasBetter(url: string): boolean {
    return this.#urls.some((one) => one !== url && !this.#isSuspect(one));
  }

  /** Uses a control plane that responded. */
  use(url: string): void {
    this.#failedAtMs.delete(url);
    this.#offline.delete(url);
    if (url === this.#current || !this.#urls.includes(url)) return;
    if (url === this.home) {
      this.#homeSinceMs = this.#clock.monotonicMs();
      this.#returnAtMs = Number.POSITIVE_INFINITY;
    } else if (this.#current === this.home) {
      if (this.#clock.monotonicMs() - this.#homeSinceMs >= STEADY_MS) this.#pause.reset();
      this.postponeReturn();
    }
    this.#current = url;
  }

  /** Plans the next probe of the home. */
  postponeReturn(): void {
    this.#returnAtMs = this.#clock.monotonicMs() + this.#pause.next();
  }

  #isSuspect(url: string): boolean {
    if (this.#offline.has(url)) return true;
    return this.#clock.monotonicMs() - (this.#failedAtMs.get(url) ?? Number.NEGATIVE_INFINITY) < SUSPECT_MS;
  }

  /** A random one of those that are online and have not failed lately, or else the one whose failure is the oldest. */
  #bestOf(urls: readonly string[]): string | undefined {
    const sound = urls.filter((url) => !this.#isSuspect(url));
    if (sound.length > 0) return sound[Math.floor(this.#random() * sound.length)];
    const failedAtMs = (url: string): number => this.#failedAtMs.get(url) ?? 0;
    return urls.toSorted((a, b) => failedAtMs(a) - failedAtMs(b))[0];
  }
}

/** Returns undefined for what is no plain https address. */
function originOf(text: string): string | undefined {
  const url = text.length > MAX_URL_CHARS ? null : URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined;
  return url.origin;
}
