/**
 * Which test files share a process. Loading the modules of a part takes most of the time of its tests: files of one folder
 * share a process, a dozen at a time in the order of their paths, unless their text names a reason against it. What a
 * file must not leave behind is in `test-traces.ts`.
 */

export interface TestGroup {
  readonly files: readonly string[];
  /** They run in the program of `test-group-suite.ts`. */
  readonly isShared: boolean;
}

/** Folders whose files share processes with each other. Each folder inside of `src/` is a part. */
const SHARED = /^(?:src\/[^/]+|test\/arch|test\/bench|tools)\//;

/** What a test measures or changes in a process as a whole, and the forms that it has in a text. */
export const OWN_PROCESS: readonly (readonly [form: RegExp, reason: string])[] = [
  [/\bprocess\.(?:cpuUsage|memoryUsage|resourceUsage)\b/, 'measures the whole process'],
  [/\/support\/(?:heap|frequent-collection|undisturbed)\.ts'/, 'measures the whole process'],
  [/'node:(?:v8|inspector|perf_hooks|worker_threads)'/, 'uses what a process has once'],
  [/\bprocess\.(?:chdir|umask|setuid|setgid)\b/, 'changes the whole process'],
];

/** Bounds how long one process takes, and how much a failure of one file may have to do with others. */
const MAX_FILES = 12;

/** `textOf` gives the text of a file. */
export function groupFiles(files: readonly string[], textOf: (file: string) => string): TestGroup[] {
  const groups: TestGroup[] = [];
  const shared = new Map<string, string[]>();
  for (const file of files.toSorted()) {
    const folder = SHARED.exec(file)?.[0];
    if (folder === undefined || OWN_PROCESS.some(([form]) => form.test(textOf(file)))) {
      groups.push({ files: [file], isShared: false });
      continue;
    }
    const open = shared.get(folder);
    if (open !== undefined && open.length < MAX_FILES) {
      open.push(file);
      continue;
    }
    const begun = [file];
    shared.set(folder, begun);
    groups.push({ files: begun, isShared: true });
  }
  return groups;
}
