/** The memory shares of this process, computed once, when it starts. */
import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';
import { memorySharesOf } from './memory-shares-policy.ts';

/**
 * The limit of the control group (`memory.max`), or the memory of the machine if there is none or it is larger. The
 * memory that is free at present does not count: it changes with the caches and the neighbours of the process.
 */
function usableMemoryBytes(): number {
  // Without a limit it is 0, or larger than any memory.
  return Math.min(constrainedMemory() || Infinity, totalmem());
}

export const memoryShares = memorySharesOf(usableMemoryBytes());
