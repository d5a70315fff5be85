/**
 * One stream of changes for all tabs of a browser, which has six connections to a host. The tab that holds a lock reads it for all
 * topics, and passes the changes on. A tab that is hidden takes no part: it neither reads nor names a topic.
 */
import type { Api } from './call.ts';
import { ChangeSource, type ResourceEvent, type StreamState, type Topic } from './change-source.ts';

export interface StreamEvents {
  /** `unknown`: changes may have been missed. */
  changed(changes: readonly ResourceEvent[] | 'unknown'): void;
  stateChanged(state: StreamState): void;
}

type Message =
  | { readonly what: 'follow'; readonly tab: string; readonly topic: Topic }
  | { readonly what: 'leave'; readonly tab: string }
  | { readonly what: 'state'; readonly state: StreamState }
  | {
      readonly what: 'changes';
      readonly changes: readonly ResourceEvent[] | 'unknown';
      readonly lastId: string;
    };

const NAME = 'frontdoor-changes';
const BEAT_MS = 2_000;
/** The reading tab is frozen when it is silent for so long, and another one takes over. */
const SILENCE_MS = 5_000;
/** The topic of a tab that is silent for so long is dropped. */
const TOPIC_MS = 10_000;
/** A tab that is hidden for a moment only keeps its part. */
const HIDDEN_MS = 30_000;

export class SharedStream {
  readonly #api: Api;
  readonly #events: StreamEvents;
  readonly #channel = new BroadcastChannel(NAME);
  readonly #tab = crypto.randomUUID();
  readonly #topics = new Map<string, { readonly topic: Topic; atMs: number }>();
  #topic: Topic = {};
  #source: ChangeSource | undefined;
  /** Gives up the lock, or the wait for it. */
  #release: (() => void) | undefined;
  #beatTimer: ReturnType<typeof setInterval> | undefined;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  #beatAtMs = 0;
  #heardAtMs = 0;
  #lastId = '';
  #hasBeenAway = false;

  constructor(api: Api, events: StreamEvents) {
    this.#api = api;
    this.#events = events;
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#receive(data);
  }

  /** Follows a topic instead of the one before, until the answer is called. */
  follow(topic: Topic): () => void {
    this.#topic = topic;
    const onVisibility = () => this.#sawVisibility();
    const leave = () => this.#leave();
    const join = () => void (document.hidden || this.#join());
    document.addEventListener('visibilitychange', onVisibility);
    // The browser is about to stop this page, with its timers and its messages.
    document.addEventListener('freeze', leave);
    document.addEventListener('resume', join);
    window.addEventListener('pagehide', leave);
    window.addEventListener('pageshow', join);
    join();
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      document.removeEventListener('freeze', leave);
      document.removeEventListener('resume', join);
      window.removeEventListener('pagehide', leave);
      window.removeEventListener('pageshow', join);
      clearTimeout(this.#hiddenTimer);
      this.#leave();
      this.#hasBeenAway = false;
    };
  }

  #sawVisibility(): void {
    clearTimeout(this.#hiddenTimer);
    if (!document.hidden) this.#join();
    else this.#hiddenTimer = setTimeout(() => this.#leave(), HIDDEN_MS);
  }

  #join(): void {
    if (this.#beatTimer !== undefined) return;
    this.#heardAtMs = Date.now();
    this.#beatAtMs = this.#heardAtMs;
    this.#beatTimer = setInterval(() => this.#beat(), BEAT_MS);
    this.#queue();
    this.#post({ what: 'follow', tab: this.#tab, topic: this.#topic });
    if (this.#hasBeenAway) this.#events.changed('unknown');
    this.#hasBeenAway = false;
  }

  #leave(): void {
    if (this.#beatTimer === undefined) return;
    clearInterval(this.#beatTimer);
    this.#beatTimer = undefined;
    this.#hasBeenAway = true;
    this.#post({ what: 'leave', tab: this.#tab });
    this.#release?.();
    this.#events.stateChanged({ isOpen: false, lostAtMs: undefined });
  }

  /** Waits for the lock, or takes it from a tab that is frozen. */
  #queue({ steal = false } = {}): void {
    this.#release?.();
    const given = new AbortController();
    this.#release = () => given.abort();
    navigator.locks
      .request(NAME, steal ? { steal } : { signal: given.signal }, () => this.#read(given.signal))
      .catch(() => {
        // Another tab took the lock, because this one was frozen.
        if (!given.signal.aborted) this.#stopReading();
        if (!given.signal.aborted && this.#beatTimer !== undefined) this.#queue();
      });
  }

  /** Reads the stream for as long as this tab has the lock. */
  async #read(given: AbortSignal): Promise<void> {
    if (given.aborted) return;
    const source = new ChangeSource(this.#api, {
      changed: (changes, lastId) => {
        this.#post({ what: 'changes', changes, lastId });
        this.#take(changes, lastId);
      },
      stateChanged: (state) => {
        this.#post({ what: 'state', state });
        this.#events.stateChanged(state);
      },
    });
    this.#source = source;
    this.#openAll();
    await new Promise<void>((resolve) => given.addEventListener('abort', () => resolve()));
    this.#stopReading();
  }

  #stopReading(): void {
    this.#source?.close();
    this.#source = undefined;
  }

  #beat(): void {
    const nowMs = Date.now();
    // This page, or the machine, stood still itself.
    const wasFrozen = nowMs - this.#beatAtMs > 2 * BEAT_MS;
    this.#beatAtMs = nowMs;
    if (this.#source !== undefined) {
      for (const [tab, { atMs }] of this.#topics) if (nowMs - atMs > TOPIC_MS) this.#topics.delete(tab);
      this.#post({ what: 'state', state: this.#source.state });
      return;
    }
    if (wasFrozen) this.#heardAtMs = nowMs;
    this.#post({ what: 'follow', tab: this.#tab, topic: this.#topic });
    if (nowMs - this.#heardAtMs <= SILENCE_MS) return;
    this.#heardAtMs = nowMs;
    this.#queue({ steal: true });
  }

  #receive(message: Message): void {
    if (message.what === 'follow') {
      this.#topics.set(message.tab, { topic: message.topic, atMs: Date.now() });
      if (this.#source === undefined) return;
      this.#openAll();
      this.#post({ what: 'state', state: this.#source.state });
    } else if (message.what === 'leave') {
      this.#topics.delete(message.tab);
    } else if (this.#source === undefined) {
      this.#heardAtMs = Date.now();
      if (message.what === 'changes') this.#take(message.changes, message.lastId);
      else if (this.#beatTimer !== undefined) this.#events.stateChanged(message.state);
    }
  }

  #take(changes: readonly ResourceEvent[] | 'unknown', lastId: string): void {
    this.#lastId = lastId;
    if (this.#beatTimer !== undefined) this.#events.changed(changes);
  }

  #openAll(): void {
    const topics = [this.#topic, ...[...this.#topics.values()].map(({ topic }) => topic)];
    // Before the first event, the stream begins where the first answer was made: what changed in between is on no screen.
    this.#source?.follow(topics, this.#lastId === '' ? this.#api.changesAfter : this.#lastId);
  }

  #post(message: Message): void {
    this.#channel.postMessage(message);
  }
}
