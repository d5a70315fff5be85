/** Tables of the replacement of the key in `secrets.key` (ADR 0062). */

/** One row for each key that was made to replace another one; the newest row counts. */
export interface SealingKeyTable {
  key_id: string;
  /** `added`: control planes get it; `sealing`: it encrypts; `done`: no value is encrypted with another one. */
  state: 'added' | 'sealing' | 'done';
  added_at: number;
  /** When it began to encrypt; null before. */
  sealing_at: number | null;
  /** Until then a control plane encrypts stored values again. */
  worked_until: number;
}

/** A control plane, and the keys that it has. */
export interface SealingMemberTable {
  id: string;
  name: string;
  /** Ids with spaces between them. */
  key_ids: string;
  sealing_id: string;
  seen_at: number;
}

export interface SealingTables {
  sealing_key: SealingKeyTable;
  sealing_member: SealingMemberTable;
}
