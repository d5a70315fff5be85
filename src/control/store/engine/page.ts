/** A page request and its result. */
export interface PageRequest {
  /** Counted from 0. */
  readonly page: number;
  /** 1 to 1000. */
  readonly size: number;
  /** A field that the list can be sorted by; 'default' is the order of creation. */
  readonly sort: string;
  readonly direction: 'asc' | 'desc';
}

export interface Page<T> {
  readonly content: readonly T[];
  /** Number of entries on all pages. */
  readonly total: number;
}
