/** An entity of the edge management API: what all kinds have, and the document of its kind. */
import type { EdgeEntityKind } from '../../store/schema/mod.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface EdgeEntityRecord {
  readonly id: string;
  readonly kind: EdgeEntityKind;
  /** Unique in its kind. */
  readonly name: string;
  readonly data: JsonObject;
  readonly tags: JsonObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
