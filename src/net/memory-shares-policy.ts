/**
 * How the memory of a process is shared out to what its peers can make it hold. All shares together are five eighths of
 * what the program itself leaves; the rest is for garbage and what the system keeps for its sockets.
 */

const MIB = 1024 * 1024;
/** An idle agent with its launcher takes 41 MiB. */
const PROGRAM_BYTES = 48 * MIB;

export interface MemoryShares {
  /** Frames that have not arrived whole, in all channels. */
  readonly unfinishedFramesBytes: number;
  /** Received data of circuits that waits for slow local connections, or for an earlier payload. */
  readonly unreadBytes: number;
  /** Sent data of circuits that the far ends have not acknowledged. */
  readonly unacknowledgedBytes: number;
  /** Data of circuits that waits in the sockets of private services and of local clients. */
  readonly unsentBytes: number;
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
  // Half of it is a whole window of one circuit. Beyond that, every circuit has a payload or two.
  unreadBytes: { part: 1 / 4, leastBytes: 4 * MIB, mostBytes: 1024 * MIB },
  unacknowledgedBytes: { part: 1 / 8, leastBytes: 2 * MIB, mostBytes: 1024 * MIB },
  unsentBytes: { part: 1 / 16, leastBytes: MIB, mostBytes: 256 * MIB },
  datagramBytes: { part: 1 / 16, leastBytes: MIB, mostBytes: 256 * MIB },
};

/** `memoryBytes`: the memory that this process may use. */
export function memorySharesOf(memoryBytes: number): MemoryShares {
  const freeBytes = Math.max(0, memoryBytes - PROGRAM_BYTES);
  const bytesOf = ({ part, leastBytes, mostBytes }: Share): number =>
    Math.min(mostBytes, Math.max(leastBytes, Math.floor(freeBytes * part)));
  return {
    unfinishedFramesBytes: bytesOf(SHARES.unfinishedFramesBytes),
    unreadBytes: bytesOf(SHARES.unreadBytes),
    unacknowledgedBytes: bytesOf(SHARES.unacknowledgedBytes),
    unsentBytes: bytesOf(SHARES.unsentBytes),
    datagramBytes: bytesOf(SHARES.datagramBytes),
  };
}
