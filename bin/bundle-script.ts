/**
 * Runs a bundle with the code of an earlier run. Node's compile cache has the code of a module as it is when it was loaded,
 * without that of the functions that run later; a start called five thousand of those. ADR 0054.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { setHeapFlags, resetHeapFlags } from './heap-flags.ts';
import { atIdleMoment } from './idle-moment.ts';
import { CODE_SUFFIX, PACKAGE_ROOT } from './program-bundle.ts';

/** A program has started by then, and has served some requests. */
const CHECK_MS = 10_000;
/** Code that was damaged on the disk would crash V8. */
const CHECKSUM_BYTES = 4;

export interface RunScript {
  readonly exports: unknown;
  /** Whether it runs with the code of an earlier run. */
  readonly hasCode: boolean;
}

/** `program` names the code, because each program runs other functions. */
export function runScript(path: string, program: string, checkMs = CHECK_MS): RunScript {
  const file = join(dirname(path), `${program}${CODE_SUFFIX}`);
  const code = readCode(file);
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    cachedData: code,
  });
  const hasCode = code !== undefined && script.cachedDataRejected !== true;
  if (!hasCode) saveWhenIdle(script, file, checkMs);
  const module = { exports: {} };
  const run = script.runInThisContext() as (...names: unknown[]) => void;
  run(module.exports, createRequire(join(PACKAGE_ROOT, 'package.json')), module);
  return { exports: module.exports, hasCode };
}

function saveWhenIdle(script: Script, file: string, checkMs: number): void {
  atIdleMoment(() => {
    // V8 notes the flags in the code, and they are compared at the next start.
    resetHeapFlags();
    save(script, file);
    setHeapFlags();
  }, checkMs);
}

/** Nothing depends on the code, so a folder that cannot be written is nobody's concern. */
function save(script: Script, file: string): void {
  const draft = `${file}.${process.pid}`;
  try {
    const code = script.createCachedData();
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32LE(crc32(code));
    writeFileSync(draft, Buffer.concat([checksum, code]), { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch {
    rmSync(draft, { force: true });
  }
}

/** Returns undefined where there is none, or it was damaged. */
function readCode(file: string): Buffer | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return undefined;
  }
  if (bytes.length < CHECKSUM_BYTES) return undefined;
  const code = bytes.subarray(CHECKSUM_BYTES);
  return crc32(code) === bytes.readUInt32LE() ? code : undefined;
}
