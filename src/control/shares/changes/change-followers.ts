/**
 * Streams of changes of a frontdoor's or the installation's resources: kind and id, never content. Changes that were
 * stored come with the store's notifications, also of other control planes, and measured ones from the status board.
 */
import type { Readable } from 'node:stream';
import type { MeasuredKind, OverlayModel, StatusBoard } from '../../overlay/model/mod.ts';
import { concerns, resourceChangeOf, type ResourceChange } from '../../store/mod.ts';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import { ChangeLog, topicsOf } from './change-log.ts';
import {
  EventFollowers,
  type EventFollowersOptions,
  type EventSource,
  type FollowedStream,
} from '../../event-stream/mod.ts';

export interface ChangeFollowersOptions extends Omit<EventFollowersOptions, 'subject' | 'maxPerReader'> {
  readonly model: Pick<OverlayModel, 'identity'>;
  readonly catalog: Pick<ShareCatalog, 'get'>;
  readonly status: Pick<StatusBoard, 'onMeasured'>;
  /** Number of changes that a reader can be behind. */
  readonly capacity?: number | undefined;
}

export interface ChangeFollowRequest extends Pick<
  FollowedStream,
  'topics' | 'reader' | 'organizationId' | 'isAllowed'
> {
  /** The id of the last event that the reader has; undefined: only new changes. */
  readonly after: string | undefined;
  /** Whether an event has the id of its owner: a frontdoor or an organization; null for the installation. */
  readonly namesOwners: boolean;
}

/** A browser has one stream for all its tabs; programs have one for each frontdoor. */
const MAX_PER_READER = 50;
const CHUNK = 100;
/** A resource is named at most ten times a second, however often it changes. */
const COMBINE_MS = 100;
const RETRY_MS = 1_000;

export class ChangeFollowers {
  readonly #log: ChangeLog;
  readonly #followers: EventFollowers;
  readonly #model: ChangeFollowersOptions['model'];
  readonly #catalog: ChangeFollowersOptions['catalog'];

  constructor(options: ChangeFollowersOptions) {
    this.#log = new ChangeLog(options.capacity);
    this.#model = options.model;
    this.#catalog = options.catalog;
    this.#followers = new EventFollowers({
      ...options,
      subject: 'changes',
      maxPerReader: MAX_PER_READER,
      isInOrder: true,
      combineMs: COMBINE_MS,
    });
    options.store.onChange((changes) => {
      if (concerns(changes)) {
        this.#log.restart();
        this.#followers.notifyAll();
      }
      for (const change of changes) this.#append(resourceChangeOf(change));
    });
    options.status.onMeasured((kind, id) => this.#append(this.#measured(kind, id)));
  }

  /** Returns undefined if the reader, or all readers together, have too many streams. */
  follow(request: ChangeFollowRequest): Readable | undefined {
    return this.#followers.follow({ ...request, source: this.#sourceOf(request) });
  }

  /** Position of the last change: a stream that begins after it misses nothing that changed since. */
  get position(): string {
    return this.#log.position;
  }

  get size(): number {
    return this.#followers.size;
  }

  /** Ends every stream at once. */
  close(): void {
    this.#followers.close();
  }

  #sourceOf({ topics, after, namesOwners }: ChangeFollowRequest): EventSource {
    const log = this.#log;
    let position = after ?? log.position;
    return {
      // An id without data moves the reader's position and is no event.
      begin: () => `retry: ${RETRY_MS}\n${after === undefined ? `id: ${position}\n` : ''}\n`,
      next() {
        const span = log.after(position, topics, CHUNK);
        if (span === undefined) {
          ({ position } = log);
          return { text: `id: ${position}\nevent: reset\ndata: {}\n\n`, isAtEnd: false };
        }
        ({ position } = span);
        return { text: textOf(span.changes, position, namesOwners), isAtEnd: span.isAtEnd };
      },
      heartbeat: () => `: alive\nid: ${position}\n\n`,
    };
  }

  #append(change: ResourceChange | undefined): void {
    if (change === undefined) return;
    this.#log.append(change);
    for (const topic of topicsOf(change)) this.#followers.notify(topic);
  }

  #measured(measured: MeasuredKind, id: string): ResourceChange | undefined {
    if (measured === 'service') {
      const share = this.#catalog.get(id);
      return share && { ownerId: share.frontdoorId, kind: 'share', id: share.token };
    }
    const identity = this.#model.identity(id);
    // Other clients of the overlay are no resources of this API.
    if (identity === undefined || identity.kind === 'edge') return undefined;
    return { ownerId: identity.ownerId, kind: identity.kind, id };
  }
}

/** Only the last event has an id, because its position includes all of them. */
function textOf(changes: readonly ResourceChange[], position: string, namesOwners: boolean): string {
  return changes
    .map(({ kind, id, ownerId }, index) => {
      const isLast = index === changes.length - 1;
      const data = namesOwners ? { kind, id, ownerId } : { kind, id };
      return `${isLast ? `id: ${position}\n` : ''}event: change\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
}
