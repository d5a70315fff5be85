/**
 * Lets a few proceed in each turn of the event loop. What wakes many at once, such as one change that hundreds of streams
 * report, then holds up nobody else in the process.
 */
export class StreamTurns {
  readonly #perTurn: number;
  #waiting: (() => void)[] = [];

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  /** Resolves in one of the next turns, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#serve);
    });
  }

  readonly #serve = (): void => {
    for (const resolve of this.#waiting.splice(0, this.#perTurn)) resolve();
    if (this.#waiting.length > 0) setImmediate(this.#serve);
  };
}
