/** What access control and upstream settings change in the head of a request. */

/** Changes of a request's head, besides framing and forwarding headers. */
export interface HeadChanges {
  /** Replaces the value of Host; absent if it is unchanged. */
  readonly host?: string | undefined;
  /** Indices of header lines that are removed. */
  readonly omitted: readonly number[];
  /** Replaces the target; undefined if it is unchanged. */
  readonly target: string | undefined;
  /** Header lines that are added at the end, each with its line end. */
  readonly lines: string;
}
