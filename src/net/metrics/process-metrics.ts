/**
 * What a process takes of its machine, by the names that Prometheus's client libraries use, what it could not read of our
 * own messages and files, and what it could not log.
 */
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { countedLogLines, droppedLogLines } from '#base';
import { lostShapeEntries } from '#base/shapes';
import { containedExceptions } from '../containment.ts';
import { descriptorLimit } from '../descriptor-limit.ts';
import { descriptorShortages, isDescriptorShortage } from '../descriptor-watch.ts';
import type { Exposition } from './exposition.ts';

export function writeProcessMetrics(to: Exposition): void {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  to.one('process_cpu_seconds_total', 'counter', 'CPU time that the process has used', (user + system) / 1e6);
  to.one('process_resident_memory_bytes', 'gauge', 'Resident memory of the process', rss);
  to.one('nodejs_heap_used_bytes', 'gauge', 'Memory of the JavaScript heap that is in use', heapUsed);
  to.one(
    'nodejs_external_memory_bytes',
    'gauge',
    'Memory outside the heap that JavaScript objects refer to',
    external,
  );
  const startedS = Date.now() / 1_000 - process.uptime();
  to.one('process_start_time_seconds', 'gauge', 'Unix time at which the process started', startedS);
  const descriptors = openDescriptors();
  if (descriptors !== undefined)
    to.one('process_open_fds', 'gauge', 'Open file descriptors of the process', descriptors);
  const most = descriptorLimit();
  if (most !== undefined)
    to.one('process_max_fds', 'gauge', 'File descriptors that the process may have open', most);
  to.one(
    'frontdoor_descriptor_shortages_total',
    'counter',
    'Times at which the process had no file descriptor left',
    descriptorShortages(),
  );
  to.family(
    'frontdoor_log_lines_total',
    'counter',
    'Log lines by level',
    Array.from(countedLogLines(), ([level, lines]) => [{ level }, lines] as const),
  );
  to.family(
    'frontdoor_shape_lost_entries_total',
    'counter',
    'Entries of messages and files that could not be read and were left out, by the shape that was read',
    Array.from(lostShapeEntries(), ([shape, entries]) => [{ shape }, entries] as const),
  );
  to.family(
    'frontdoor_contained_exceptions_total',
    'counter',
    'Defects that ended one thing only, by its kind: look for "defect" in the log, and report it',
    containedExceptions().map(([kind, count]) => [{ kind }, count] as const),
  );
  to.one(
    'frontdoor_log_dropped_lines_total',
    'counter',
    'Log lines that were dropped because the log could not be written',
    droppedLogLines(),
  );
}

/** Undefined where the system has no list of them. To read the list takes a descriptor: all are open if there is none. */
function openDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch (error) {
    return isDescriptorShortage(error) ? descriptorLimit() : undefined;
  }
}
