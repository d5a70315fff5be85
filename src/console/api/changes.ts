/**
 * What changes while the program runs: the answers on the screen that a change concerns are asked for again. While a dialog is
 * open nothing moves under it.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { Api } from './call.ts';
import type { ResourceEvent, StreamState, Topic } from './change-source.ts';
import { laterFile } from './later-files.ts';
import { Refreshing } from './refreshing.ts';
import { onSession } from './session-end.ts';

const RETRY_MS = 5_000;
/** More changes than this are as good as unknown ones. */
const MAX_HELD = 1_000;

export class Changes {
  readonly #refreshing: Refreshing;
  readonly #listeners = new Set<() => void>();
  /** The first page needs no stream. */
  readonly #stream;
  #state: StreamState = { isOpen: false, lostAtMs: undefined };
  #holders = 0;
  #held: ResourceEvent[] = [];
  #isUnknown = false;

  constructor(api: Api, queryClient: QueryClient) {
    this.#refreshing = new Refreshing(queryClient);
    this.#stream = laterFile(async () => {
      const { SharedStream } = await import('./shared-stream.ts');
      return new SharedStream(api, {
        changed: (changes) => {
          if (changes === 'unknown') this.#isUnknown = true;
          else this.#held.push(...changes);
          this.#deliver();
        },
        stateChanged: (state) => this.#setState(state),
      });
    });
    // Requests that were refused, and those that nobody sent since then.
    onSession((message) => {
      if (message !== 'ended') this.#refreshing.all();
    });
  }

  get state(): StreamState {
    return this.#state;
  }

  /** Calls the listener with each state of the stream, until the answer is called. */
  readonly onState = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Holds changes back until the answer is called. */
  hold(): () => void {
    this.#holders += 1;
    return () => {
      this.#holders -= 1;
      this.#deliver();
    };
  }

  async follow(topic: Topic, end: AbortSignal): Promise<void> {
    const stream = await this.#stream.load().catch(() => undefined);
    if (end.aborted) return;
    if (stream === undefined) {
      this.#setState({ isOpen: false, lostAtMs: this.#state.lostAtMs ?? Date.now() });
      setTimeout(() => end.aborted || void this.follow(topic, end), RETRY_MS);
      return;
    }
    end.addEventListener('abort', stream.follow(topic));
  }

  #deliver(): void {
    if (this.#held.length > MAX_HELD) this.#isUnknown = true;
    if (this.#isUnknown) this.#held = [];
    if (this.#holders > 0) return;
    if (this.#isUnknown) this.#refreshing.all();
    this.#refreshing.changed(this.#held);
    [this.#held, this.#isUnknown] = [[], false];
  }

  #setState(state: StreamState): void {
    if (state.isOpen === this.#state.isOpen && state.lostAtMs === this.#state.lostAtMs) return;
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
