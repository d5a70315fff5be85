/** The options of `frontdoor upgrade`, and what its checks get from the programs. */
import type { ApiFlags } from '../access/api-options.ts';
import type { DatabaseOptions } from '../database-option.ts';

export interface UpgradeFlags extends ApiFlags, DatabaseOptions {
  readonly check?: boolean;
  readonly dataDir: string;
  readonly config?: string;
  readonly migrationBackups: number;
  readonly migrationBackupDir?: string;
}

export interface UpgradeDatabase {
  readonly kind: 'embedded' | 'postgres';
  /** The newest step of its schema; undefined for a new database. */
  readonly schema?: string | undefined;
  readonly bytes: number;
}

export interface UpgradeRunner {
  /** All steps of the schema that this version knows, in their order. */
  schemaSteps(): Promise<readonly { readonly name: string; readonly effect: string }[]>;
  /** Reads a database that no control plane uses. */
  readDatabase(options: UpgradeFlags): Promise<UpgradeDatabase>;
  /** Runs the check of the version in an archive or folder with the other words of the command line. Resolves to its exit status. */
  checkOf(version: string): Promise<number>;
}
