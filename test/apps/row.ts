/**
 * A row of `npm run apps`: a file of `rows/` that exports it as `app`. Most are an application, which is installed below
 * `.cache/apps/`, started on a free port and shared with the command line; some are a test of the tree that runs the
 * program already.
 */
import type { AppShare } from './app-share.ts';
import type { PrivateShare } from './private-share.ts';

export interface AppPlace {
  /** Where its packages are: `node_modules`, or `python/bin`. */
  readonly folder: string;
  readonly port: number;
}

export interface AppProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that listens. */
export interface AppServer {
  readonly port: number;
  /** The last lines that it printed. */
  tail(): string;
  stop(): Promise<void>;
}

interface Row {
  /** Also the name of its share. */
  readonly name: string;
  /** What works, in a sentence. */
  readonly shows: string;
  /** Programs from PATH and the Debian packages that have them; without one, the row is skipped by name. */
  readonly needs?: Readonly<Record<string, string>>;
}

interface InstalledApp extends Row {
  /** Packages with their versions. */
  readonly npm?: readonly string[];
  readonly pip?: readonly string[];
  /** The program that makes its virtual environment; `python3` when absent. */
  readonly python?: string;
  /** Starts it; or writes its files and returns how it is started. */
  readonly program: (place: AppPlace) => AppProgram | Promise<AppProgram | AppServer>;
}

export interface PublicApp extends InstalledApp {
  /** The path of the target, for an application below one. */
  readonly path?: string;
  /** Options of `frontdoor agent share public`. */
  readonly options?: readonly string[];
  /** Throws when the application does not work behind its share. */
  readonly check: (share: AppShare, place: AppPlace) => Promise<void>;
}

export interface PrivateApp extends InstalledApp {
  readonly checkPrivate: (share: PrivateShare, place: AppPlace) => Promise<void>;
}

/** A test of the tree that runs a real program. */
export interface TestedApp extends Row {
  /** Its file. */
  readonly test: string;
  /** Matches the names of its tests. */
  readonly pattern: string;
  /** The environment variable that names a program which Debian does not have. */
  readonly variable?: string;
}

export type App = PublicApp | PrivateApp | TestedApp;
