/**
 * The latest changes of resources, in memory and bounded. A position in it is the log's epoch and a sequence number.
 * A reader that is too far behind, or has a position of another control plane, cannot continue. The epoch changes when changes
 * may have been missed.
 */
import { randomBytes } from 'node:crypto';
import type { ResourceChange } from '../../store/mod.ts';

export interface ChangeSpan {
  /** Each resource once, in the order of its last change. */
  readonly changes: readonly ResourceChange[];
  /** Everything up to this position has been examined. */
  readonly position: string;
  readonly isAtEnd: boolean;
}

const CAPACITY = 8_192;
const EPOCH_BYTES = 6;
const POSITION = /^([0-9a-f]{12})-(0|[1-9][0-9]{0,14})$/;

/** Stands for the resources of the installation. */
export const INSTALLATION_TOPIC = '';

export class ChangeLog {
  readonly #capacity: number;
  /** The change with sequence number n is at n modulo the capacity. */
  #ring: ResourceChange[] = [];
  #epoch = newEpoch();
  /** Sequence number of the last change; 0 if there is none. */
  #end = 0;

  constructor(capacity = CAPACITY) {
    this.#capacity = capacity;
  }

  append(change: ResourceChange): void {
    this.#end += 1;
    this.#ring[this.#end % this.#capacity] = change;
  }

  /** Changes may have been missed, so that no position is valid. */
  restart(): void {
    this.#epoch = newEpoch();
    this.#ring = [];
    this.#end = 0;
  }

  get position(): string {
    return `${this.#epoch}-${this.#end}`;
  }

  /** Returns the changes of the topics after a position, at most so many; undefined if some of them are no longer known. */
  after(position: string, topics: readonly string[], limit: number): ChangeSpan | undefined {
    const [, epoch, text] = POSITION.exec(position) ?? [];
    const start = Number(text);
    if (epoch !== this.#epoch || start > this.#end || this.#end - start > this.#capacity) return undefined;
    const changes = new Map<string, ResourceChange>();
    let sequence = start;
    while (sequence < this.#end && changes.size < limit) {
      sequence += 1;
      const change = this.#ring[sequence % this.#capacity]!;
      if (!topicsOf(change).some((topic) => topics.includes(topic))) continue;
      const key = `${change.kind} ${change.id}`;
      changes.delete(key);
      changes.set(key, change);
    }
    return {
      changes: [...changes.values()],
      position: `${epoch}-${sequence}`,
      isAtEnd: sequence === this.#end,
    };
  }
}

export function isLogPosition(text: string): boolean {
  return POSITION.test(text);
}

/** Frontdoors themselves concern the readers of the installation, too. */
export function topicsOf({ ownerId, kind }: ResourceChange): readonly string[] {
  if (ownerId === null) return [INSTALLATION_TOPIC];
  return kind === 'frontdoor' ? [ownerId, INSTALLATION_TOPIC] : [ownerId];
}

function newEpoch(): string {
  return randomBytes(EPOCH_BYTES).toString('hex');
}
