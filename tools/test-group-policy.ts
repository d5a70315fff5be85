/**
 * Which test files share a process. Loading the modules of a part takes most of the time of its tests: files of one folder
 * share a process, two dozen at a time in the order of their paths, unless their text names a reason against it. What a
 * file must not leave behind is in `test-traces.ts`.
 */

export interface TestGroup {
  readonly files: readonly string[];
  /** They run in the program of `test-group-suite.ts`. */
  readonly isShared: boolean;
}

/**
 * Environment variables that name programs and libraries of peers. CI does not have them: a test that is skipped for one
 * of them names it in its reason and does not fail a strict run.
 */
export const PEER_VARIABLES = [
  'ZITI_BIN',
  'ZROK_BIN',
  'TRAEFIK_BIN',
  'FRONTDOOR_TEST_GRPC_INTEROP',
  'HELM_BIN',
  'FRONTDOOR_TEST_OPENZITI_JARS',
  'FRONTDOOR_TEST_RESOLVED',
];
/** What a file imports that starts programs, which may last, or keeps a closed socket for up to 30 s. */
const PROGRAMS =
  /'node:child_process'|createWebSocketStream|\/support\/(?:separate|identity-world|(?:part|product)-process|replicated|(?:stops|fault)-[a-z]+|fabric-mesh|network-namespace|postgres)\.ts'/;

interface SharingFolders {
  /** Matches the beginning of a path. Files with the same match share processes with each other. */
  readonly folder: RegExp;
  /** Bounds how long one process takes, and how much a failure of one file may have to do with others. */
  readonly maxFiles: number;
  /** A file of the folder with such a text has a process of its own. */
  readonly own?: RegExp;
  /** The folder's files share processes when none of these environment variables is set. */
  readonly unless?: readonly string[];
}

/** The function that gives a file a world that it shares with others. Files that call the same share a process. */
const SHARED_WORLD =
  /\bshared(?:IdentityWorld|IdentityWorkers|IdentityPair|Separate|Console|FilledConsole)\(/;
const MAX_FILES_OF_WORLD = 6;

const SHARING: readonly SharingFolders[] = [
  // Each folder inside of `src/` is a part.
  { folder: /^(?:src\/[^/]+|test\/arch|test\/bench|tools)\//, maxFiles: 24 },
  // Each of these files opens parts of the product for itself.
  { folder: /^test\/(?:conformance|e2e)\//, maxFiles: 4, own: PROGRAMS },
  // Without the peer's program, only its file of recorded frames and the names of the skipped tests are left.
  {
    folder: /^test\/(?=interop\/|compat\/(?:openziti|zrok|java-sdk)\/)/,
    maxFiles: 40,
    unless: PEER_VARIABLES,
  },
];

/** What a test measures or changes in a process as a whole, and the forms that it has in a text. */
export const OWN_PROCESS: readonly (readonly [form: RegExp, reason: string])[] = [
  [/\bprocess\.(?:cpuUsage|memoryUsage|resourceUsage)\b/, 'measures the whole process'],
  [/\/support\/(?:heap|frequent-collection|undisturbed)\.ts'/, 'measures the whole process'],
  [/'node:(?:v8|inspector|perf_hooks|worker_threads)'/, 'uses what a process has once'],
  [/\bprocess\.(?:chdir|umask|setuid|setgid)\b/, 'changes the whole process'],
];

/** `textOf` gives the text of a file. */
export function groupFiles(
  files: readonly string[],
  textOf: (file: string) => string,
  environment: NodeJS.ProcessEnv = process.env,
): TestGroup[] {
  const groups: TestGroup[] = [];
  const shared = new Map<string, string[]>();
  for (const file of files.toSorted()) {
    const { key, maxFiles } = sharingOf(file, textOf(file), environment);
    const open = key === undefined ? undefined : shared.get(key);
    if (open !== undefined && open.length < maxFiles) {
      open.push(file);
      continue;
    }
    const begun = [file];
    if (key !== undefined) shared.set(key, begun);
    groups.push({ files: begun, isShared: key !== undefined });
  }
  return groups;
}

interface Sharing {
  /** Files with the same key share processes; undefined for a file with a process of its own. */
  readonly key: string | undefined;
  readonly maxFiles: number;
}

function sharingOf(file: string, text: string, environment: NodeJS.ProcessEnv): Sharing {
  const [world] = SHARED_WORLD.exec(text) ?? [];
  if (world !== undefined) return { key: world, maxFiles: MAX_FILES_OF_WORLD };
  const folders = SHARING.find(({ folder }) => folder.test(file));
  if (folders === undefined || !mayShare(folders, text, environment)) return { key: undefined, maxFiles: 1 };
  return { key: folders.folder.exec(file)![0], maxFiles: folders.maxFiles };
}

function mayShare(
  { own, unless = [] }: SharingFolders,
  text: string,
  environment: NodeJS.ProcessEnv,
): boolean {
  if (unless.some((name) => environment[name] !== undefined) || own?.test(text) === true) return false;
  return !OWN_PROCESS.some(([form]) => form.test(text));
}
