/** The circuits of one access: dials its share, or service, remembers why the last dial failed, and connects each with a client. */
import { messageOf, ShortLivedSet, type Log } from '#base';
import { waitAtMost } from '#net';
import type { Circuit } from '#sdk';
import { CircuitCopy, type LocalSide } from '../circuit-copy.ts';

export interface AccessCircuitsOptions {
  /** Token of the share, or name of the service. */
  readonly share: string;
  /** What `share` names, for the log; `private share` by default. */
  readonly kind?: 'private share' | 'service' | undefined;
  readonly dial: (share: string, timeoutMs: number) => Promise<Circuit>;
  readonly log: Log;
}

const DIAL_TIMEOUT_MS = 15_000;

export class AccessCircuits {
  readonly kind: string;
  /** Its lines name the share. */
  readonly log: Log;
  readonly #options: AccessCircuitsOptions;
  readonly #copies = new ShortLivedSet<CircuitCopy>();
  #problem: string | undefined;

  constructor(options: AccessCircuitsOptions) {
    const { share, kind = 'private share', log } = options;
    this.#options = options;
    this.kind = kind;
    this.log = log.child({ [kind === 'service' ? 'service' : 'share']: share });
  }

  /** Circuits that are connected with a client. */
  get size(): number {
    return this.#copies.size;
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

  /** Connects a circuit with a client, which is read from here on. `onEnded` is called when both have ended. */
  join(side: LocalSide, circuit: Circuit, onEnded: () => void = () => {}): CircuitCopy {
    const copy = new CircuitCopy(circuit, side, {
      onAlive: () => {},
      onClosed: (done, broken) => {
        this.#copies.delete(done);
        if (broken !== undefined) this.log.debug({ circuit: circuit.id, reason: broken }, 'circuit broke');
        onEnded();
      },
    });
    this.#copies.add(copy);
    side.resume();
    return copy;
  }

  /** Lets those end whose clients cannot end them. */
  drain(): void {
    for (const copy of this.#copies) copy.drain();
  }

  stop(reason: string): void {
    for (const copy of [...this.#copies]) copy.stop(reason);
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
  const { promise: wasCut, resolve } = Promise.withResolvers<void>();
  const onCut = (): void => resolve();
  cut.addEventListener('abort', onCut, { once: true });
  await waitAtMost(Promise.race([ended, wasCut]), timeoutMs);
  cut.removeEventListener('abort', onCut);
}
