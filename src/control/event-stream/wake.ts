/** Lets one loop sleep until `wake` is called or a time has passed. A call before the sleep counts. */
export class Wake {
  #isCalled = false;
  #resolve: (() => void) | undefined;

  call(): void {
    this.#isCalled = true;
    this.#resolve?.();
  }

  async wait(maxMs: number): Promise<void> {
    if (!this.#isCalled && maxMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = setTimeout(resolve, maxMs);
      await promise;
      clearTimeout(timer);
      this.#resolve = undefined;
    }
    this.#isCalled = false;
  }
}
