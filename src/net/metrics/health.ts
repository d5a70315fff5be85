/**
 * Whether a program lives and is ready, for load balancers and orchestrators. The answers name what is missing and contain
 * no addresses or secrets, because they need no credentials.
 */
import { waitAtMost } from '../wait-at-most.ts';

export interface ReadinessCheck {
  /** Stands in the answer: `database`. */
  readonly name: string;
  /** Must not change anything. No answer in time, or a rejection, counts as not ready. */
  readonly isReady: () => boolean | Promise<boolean>;
}

export interface Readiness {
  readonly status: 'starting' | 'ready' | 'not-ready' | 'stopping';
  readonly checks: Readonly<Record<string, boolean>>;
  /** Undefined where it was not given. */
  readonly version: string | undefined;
}

const CHECK_MS = 2_000;

export class ProgramHealth {
  readonly #checks: ReadinessCheck[] = [];
  readonly #version: string | undefined;
  #isStopping = false;

  constructor(version?: string) {
    this.#version = version;
  }

  /** The program has started as far as these checks. Without any, it is still starting. */
  add(...checks: readonly ReadinessCheck[]): void {
    this.#checks.push(...checks);
  }

  /** From now on the program is not ready, whatever its checks find. */
  stop(): void {
    this.#isStopping = true;
  }

  /** A check whose name is in `ignored` may fail. */
  async read(ignored: readonly string[] = []): Promise<Readiness> {
    const results = await Promise.all(
      this.#checks.map(async ({ name, isReady }) => [name, await isReadyInTime(isReady)] as const),
    );
    const isReady = results.every(([name, isGood]) => isGood || ignored.includes(name));
    const status = this.#isStopping
      ? 'stopping'
      : this.#checks.length === 0
        ? 'starting'
        : isReady
          ? 'ready'
          : 'not-ready';
    return { status, checks: Object.fromEntries(results), version: this.#version };
  }
}

async function isReadyInTime(check: ReadinessCheck['isReady']): Promise<boolean> {
  try {
    let isGood = false;
    const checked = Promise.resolve(check()).then((result) => {
      isGood = result;
    });
    checked.catch(() => {});
    return (await waitAtMost(checked, CHECK_MS)) && isGood;
  } catch {
    return false;
  }
}
