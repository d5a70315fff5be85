/**
 * How the memory of a process is shared out to what its peers can make it hold. All shares together are nine
 * sixteenths of the memory; the rest is for the program, its heap and what the system keeps for its sockets.
 */

const MIB = 1024 * 1024;

export interface MemoryShares {
  /** Frames that have not arrived whole, in all channels. */
  readonly unfinishedFramesBytes: number;
  /** Received data of circuits that waits for slow local connections, or for an earlier payload. */
  readonly unreadBytes: number;
  /** Sent data of circuits that the far ends have not acknowledged. */
  readonly unacknowledgedBytes: number;
  /** Datagrams that wait in all flows. */
  readonly datagramBytes: number;
}

interface Share {
  readonly part: number;
  /** Less does not work, however small the machine. */
  readonly leastBytes: number;
  /** More is of no use; the payloads' own objects need heap beside it. */
  readonly mostBytes: number;
}

const SHARES: Readonly<Record<keyof MemoryShares, Share>> = {
  // A controller may send its data model as one frame of 64 MiB.
  unfinishedFramesBytes: { part: 1 / 8, leastBytes: 72 * MIB, mostBytes: 512 * MIB },
  // Sixteen circuits with whole windows.
  unreadBytes: { part: 1 / 4, leastBytes: 64 * MIB, mostBytes: 1024 * MIB },
  unacknowledgedBytes: { part: 1 / 8, leastBytes: 32 * MIB, mostBytes: 1024 * MIB },
  datagramBytes: { part: 1 / 16, leastBytes: 16 * MIB, mostBytes: 256 * MIB },
};

/** `memoryBytes`: the memory that this process may use. */
export function memorySharesOf(memoryBytes: number): MemoryShares {
  const bytesOf = ({ part, leastBytes, mostBytes }: Share): number =>
    Math.min(mostBytes, Math.max(leastBytes, Math.floor(memoryBytes * part)));
  return {
    unfinishedFramesBytes: bytesOf(SHARES.unfinishedFramesBytes),
    unreadBytes: bytesOf(SHARES.unreadBytes),
    unacknowledgedBytes: bytesOf(SHARES.unacknowledgedBytes),
    datagramBytes: bytesOf(SHARES.datagramBytes),
  };
}
