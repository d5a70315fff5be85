/**
 * The temporary folder of a test run. Tests write databases, certificates and thousands of small files durably; in memory
 * that costs no wait for a disk. Where the system offers no folder in memory, it is the system's temporary folder.
 */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
/** A whole run uses less than a quarter of it; containers often offer 64 MiB, which is too little. */
const LEAST_FREE_BYTES = 2 << 30;

export class TestFolder {
  readonly path: string;

  constructor() {
    this.path = mkdtempSync(join(hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir(), 'frontdoor-test-run-'));
    // PostgreSQL runs as a user of its own, and reaches its folder inside by name.
    chmodSync(this.path, 0o711);
  }

  /**
   * Environment variables for the process that runs `files`. The rows of the battery bound the memory of processes, and
   * the kernel counts files in memory as theirs: those keep to the disk.
   */
  environmentOf(files: readonly string[]): Readonly<Record<string, string>> {
    const shared = { FRONTDOOR_TEST_FOLDER: this.path };
    return files.some((file) => file.startsWith('test/battery/')) ? shared : { ...shared, TMPDIR: this.path };
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= LEAST_FREE_BYTES;
  } catch {
    return false;
  }
}
