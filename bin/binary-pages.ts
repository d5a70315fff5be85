/**
 * Pages of the runtime's own binary that a start has touched and that nothing needs afterwards. They are most of the resident
 * memory of an idle program; the kernel has the file in its page cache, so that a page that is needed again is only mapped
 * again. ADR 0051.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';

/** `MADV_DONTNEED` of Linux. */
const DONT_NEED = 4;
const SIGNATURE = { madvise: { arguments: ['u64', 'u64', 'i32'], return: 'i32' } } as const;

export interface Mapping {
  readonly start: bigint;
  readonly bytes: bigint;
}

/** Unmaps them. Does nothing where the system is not Linux, or the runtime has no foreign calls. */
export function releaseBinaryPages(): void {
  if (process.platform !== 'linux') return;
  const ffi = process.getBuiltinModule('node:ffi');
  if (ffi === undefined) return;
  try {
    const { madvise } = ffi.dlopen(null, SIGNATURE).functions;
    for (const { start, bytes } of cleanMappings(readFileSync('/proc/self/smaps', 'utf8'), process.execPath))
      madvise(start, bytes, DONT_NEED);
  } catch {
    // A system without the file or the call keeps its pages.
  }
}

/**
 * The mappings of `path` that are as the file is: nobody may write to them, and no page was written to before that was
 * forbidden, as the loader does for addresses. `smaps` is the file of that name in `/proc`.
 */
export function cleanMappings(smaps: string, path: string): Mapping[] {
  const found: Mapping[] = [];
  const blocks = smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  for (const block of blocks) {
    const [, from = '', to = '', rights = '', name = ''] =
      /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+ +(.*)$/m.exec(block) ?? [];
    if (name !== path || !rights.startsWith('r-') || !rights.endsWith('p')) continue;
    const isClean = ['Private_Dirty', 'Anonymous', 'Swap'].every((field) =>
      new RegExp(`^${field}: +0 kB$`, 'm').test(block),
    );
    if (!isClean) continue;
    const start = BigInt(`0x${from}`);
    found.push({ start, bytes: BigInt(`0x${to}`) - start });
  }
  return found;
}
