/** What a client's connection needs of its socket: one of the system, or a stream of an HTTP/2 connection (`stream-socket.ts`). */
export interface ClientSocket {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  /** Bytes that wait for the client. */
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  pause(): unknown;
  resume(): unknown;
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  cork(): void;
  uncork(): void;
  destroy(): unknown;
  resetAndDestroy(): unknown;
  setKeepAlive(isEnabled: boolean, initialDelayMs: number): unknown;
  on(event: 'end' | 'drain' | 'error' | 'close', listener: () => void): unknown;
}
