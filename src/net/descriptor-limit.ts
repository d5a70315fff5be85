/** The number of file descriptors that the process may have open. */
import { readFileSync } from 'node:fs';

/** The last one that could be read: to read it takes a descriptor. */
const known: { limit: number | undefined } = { limit: undefined };

/** Undefined where the limit is not known. */
export function descriptorLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    if (soft !== undefined) known.limit = Number(soft);
  } catch {
    // Another system, or no descriptor is left.
  }
  return known.limit;
}
