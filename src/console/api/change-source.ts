/** The stream of changes itself, as the one tab reads it that does so for all: opened again when it is lost, after the last event. */
import { isApiError } from './api-error.ts';
import { addressOf, type Api } from './call.ts';
import { noteSessionEnd, onSession } from './session-end.ts';

export interface ResourceEvent {
  readonly kind: string;
  readonly id: string;
  /** A frontdoor or an organization; null: the installation. */
  readonly ownerId: string | null;
}

export interface StreamState {
  readonly isOpen: boolean;
  /** When the control plane was lost, in ms of the clock; undefined while the stream is open, or was never opened. */
  readonly lostAtMs: number | undefined;
}

/** What a tab wants to know of, besides its organization. */
export interface Topic {
  readonly frontdoorId?: string | undefined;
  readonly isInstallation?: boolean;
}

export interface SourceEvents {
  /** `lastId` is the position after them. */
  changed(changes: readonly ResourceEvent[] | 'unknown', lastId: string): void;
  stateChanged(state: StreamState): void;
}

/** Many changes at once are passed on as one. */
const GATHER_MS = 150;
const RETRY_MS = [1_000, 2_000, 5_000, 10_000, 20_000];
/** The control plane follows at most so many; the tabs that were looked at last come first. */
const MAX_FRONTDOORS = 50;

export class ChangeSource {
  readonly #api: Api;
  readonly #events: SourceEvents;
  readonly #stopListening: () => void;
  #state: StreamState = { isOpen: false, lostAtMs: undefined };
  #source: EventSource | undefined;
  #frontdoorIds: readonly string[] = [];
  #isInstallation = false;
  #gathered: ResourceEvent[] = [];
  #gather: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #tries = 0;
  #lastId = '';
  #isClosed = false;

  constructor(api: Api, events: SourceEvents) {
    this.#api = api;
    this.#events = events;
    this.#stopListening = onSession((message) => {
      if (message !== 'ended') this.#open();
    });
  }

  get state(): StreamState {
    return this.#state;
  }

  /** Opens the stream, or opens it again if it lacks one of the topics. It begins after the event `lastId`. */
  follow(topics: readonly Topic[], lastId: string): void {
    const ids = topics.flatMap(({ frontdoorId }) => (frontdoorId === undefined ? [] : [frontdoorId]));
    const isInstallation = topics.some((topic) => topic.isInstallation === true);
    const hasAll = ids.every((id) => this.#frontdoorIds.includes(id));
    if (this.#source !== undefined && hasAll && (this.#isInstallation || !isInstallation)) return;
    // While it is lost, the next attempt has them.
    const isWaiting = this.#retry !== undefined;
    this.#frontdoorIds = [...new Set(ids)].slice(0, MAX_FRONTDOORS);
    this.#isInstallation = isInstallation;
    if (this.#lastId === '') this.#lastId = lastId;
    if (!isWaiting) this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    this.#drop();
    this.#pass();
  }

  #open(): void {
    if (this.#isClosed) return;
    this.#drop();
    const source = new EventSource(
      addressOf('followChanges', {
        query: {
          frontdoorIds: this.#frontdoorIds.join(','),
          installation: this.#isInstallation || undefined,
          after: this.#lastId,
        },
      }),
    );
    this.#source = source;
    source.onopen = () => {
      this.#tries = 0;
      this.#setState({ isOpen: true, lostAtMs: undefined });
    };
    source.onerror = () => void this.#lost(source);
    source.addEventListener('change', ({ data, lastEventId }: MessageEvent<string>) => {
      if (lastEventId !== '') this.#lastId = lastEventId;
      const change = readChange(data);
      if (change === undefined) return;
      this.#gathered.push(change);
      this.#gather ??= setTimeout(() => this.#pass(), GATHER_MS);
    });
    source.addEventListener('reset', ({ lastEventId }: MessageEvent<string>) => {
      this.#lastId = lastEventId;
      this.#gathered = [];
      this.#events.changed('unknown', this.#lastId);
    });
  }

  #drop(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#source?.close();
    this.#source = undefined;
  }

  #pass(): void {
    clearTimeout(this.#gather);
    this.#gather = undefined;
    const changes = this.#gathered;
    this.#gathered = [];
    if (changes.length > 0) this.#events.changed(changes, this.#lastId);
  }

  /** The control plane says whether the session has ended; else it is away, or has ended the stream alone. */
  async #lost(source: EventSource): Promise<void> {
    if (this.#source !== source) return;
    this.#drop();
    this.#setState({ isOpen: false, lostAtMs: this.#state.lostAtMs ?? Date.now() });
    const delayMs = RETRY_MS[Math.min(this.#tries, RETRY_MS.length - 1)]!;
    this.#tries += 1;
    this.#retry = setTimeout(() => this.#open(), delayMs * (0.75 + Math.random() / 2));
    const refusal = await this.#api.askSession().catch((error: unknown) => error);
    if (!isApiError(refusal, 401)) return;
    this.#drop();
    this.#setState({ isOpen: false, lostAtMs: undefined });
    noteSessionEnd();
  }

  #setState(next: StreamState): void {
    if (this.#isClosed || (next.isOpen === this.#state.isOpen && next.lostAtMs === this.#state.lostAtMs))
      return;
    this.#state = next;
    this.#events.stateChanged(next);
  }
}

/** Returns undefined for an event of another form. */
function readChange(data: string): ResourceEvent | undefined {
  const value: unknown = JSON.parse(data);
  if (typeof value !== 'object' || value === null || !('kind' in value && 'id' in value)) return undefined;
  const { kind, id } = value;
  const ownerId = 'ownerId' in value ? value.ownerId : null;
  if (typeof kind !== 'string' || typeof id !== 'string') return undefined;
  return { kind, id, ownerId: typeof ownerId === 'string' ? ownerId : null };
}
