/** The circuits of one access: dials its share, or service, and remembers why the last dial failed. */
import { messageOf, type Log } from '#base';
import type { Circuit } from '#sdk';

export interface AccessDialerOptions {
  /** Token of the share, or name of the service. */
  readonly share: string;
  /** What `share` names, for the log; `private share` by default. */
  readonly kind?: 'private share' | 'service' | undefined;
  readonly dial: (share: string, timeoutMs: number) => Promise<Circuit>;
  readonly log: Log;
}

const DIAL_TIMEOUT_MS = 15_000;

export class AccessDialer {
  readonly kind: string;
  /** Its lines name the share. */
  readonly log: Log;
  readonly #options: AccessDialerOptions;
  #problem: string | undefined;

  constructor(options: AccessDialerOptions) {
    const { share, kind = 'private share', log } = options;
    this.#options = options;
    this.kind = kind;
    this.log = log.child({ [kind === 'service' ? 'service' : 'share']: share });
  }

  /** Why the last circuit could not be made; undefined if it could. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Rejects as the dial does. */
  async dial(): Promise<Circuit> {
    const { dial, share } = this.#options;
    try {
      const circuit = await dial(share, DIAL_TIMEOUT_MS);
      this.#problem = undefined;
      return circuit;
    } catch (error) {
      this.fail(messageOf(error));
      throw error;
    }
  }

  /** Makes a circuit and ends it, to learn whether the share can be reached. Returns the problem. */
  async probe(): Promise<string | undefined> {
    try {
      (await this.dial()).destroy('the share can be reached');
    } catch {
      // `dial` has kept the reason.
    }
    return this.#problem;
  }

  /** Logs a problem once, however often it occurs. */
  fail(problem: string): void {
    if (this.#problem !== problem) this.log.warn({ problem }, `no circuit to the ${this.kind}`);
    this.#problem = problem;
  }
}

/** Resolves when the connections of a listener have ended, after `timeoutMs`, or when the wait is cut. */
export async function untilEnded(ended: Promise<void>, timeoutMs: number, cut: AbortSignal): Promise<void> {
  if (cut.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  const onCut = (): void => resolve();
  cut.addEventListener('abort', onCut, { once: true });
  await Promise.race([promise, ended]);
  cut.removeEventListener('abort', onCut);
  clearTimeout(timer);
}
