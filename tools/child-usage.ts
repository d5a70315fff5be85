/** The CPU seconds of ended child processes. */
import { readFileSync } from 'node:fs';

/** The unit of the times in /proc: Linux reports 100 ticks a second on every architecture. */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds of the children that have ended and of the children that those waited for; undefined where
 * there is no /proc.
 */
export function cpuSecondsOfChildren(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // The name in parentheses may contain any character, so fields are counted after it: there, fields 16 and
    // 17 of proc(5) are the 14th and 15th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

/** Splits the seconds between children: `take`, called at the end of a child, returns those since the last call. */
export class ChildUsage {
  #taken = cpuSecondsOfChildren();

  take(): number | undefined {
    const now = cpuSecondsOfChildren();
    if (now === undefined || this.#taken === undefined) return undefined;
    const since = now - this.#taken;
    this.#taken = now;
    return since;
  }
}
