/** A page of a list, as asked and as answered. */
export interface PageRequest {
  /** From 0. */
  readonly page: number;
  /** 1 to 1000. */
  readonly size: number;
  /** A field that the list can be sorted by; 'default': the order of creation. */
  readonly sort: string;
  readonly direction: 'asc' | 'desc';
}

export interface Page<T> {
  readonly content: readonly T[];
  /** How many there are on all pages. */
  readonly total: number;
}
