/**
 * What the agent makes of its configuration file, at the start and whenever it is read again: accesses, shares, and the end of
 * those that the file no longer has. A file with an error changes nothing.
 */
import { join } from 'node:path';
import { FrontdoorError, readHostPort, type Log } from '#base';
import type { AccessRegistry } from './access/access-registry.ts';
import type { AgentConfig } from '#contract/schemas';
import { ConfigRestore } from './config-restore.ts';
import { FileShares } from './file-shares.ts';
import type { OwnTargets } from './own-targets.ts';
import type { ShareCommands } from './share-commands.ts';
import type { ShareFollower } from './share-follower.ts';
import type { ShareRegistry } from './share-registry.ts';

/** Where the configuration file is, and the variables that it may name. */
export interface AgentFilePlace {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface AgentFileOptions {
  /** Undefined: the agent has no configuration file. */
  readonly configFile: AgentFilePlace | undefined;
  readonly dataDir: string;
  readonly commands: ShareCommands;
  readonly follower: ShareFollower;
  readonly table: ShareRegistry;
  readonly accesses: AccessRegistry;
  readonly own: OwnTargets;
  readonly log: Log;
  readonly retryMs: number | undefined;
}

const FILE_SHARES_FILE = 'agent-file-shares.json';

/** Returns undefined without a file. Throws a `FrontdoorError` with all problems of the file. */
export async function readAgentFile(place: AgentFilePlace | undefined): Promise<AgentConfig | undefined> {
  if (place === undefined) return undefined;
  // Loaded on demand, because the schema compiler would be a fifth of an idle agent's memory.
  return (await import('./agent-config.ts')).loadAgentConfig(place.path, place.env);
}

export class AgentFile {
  readonly #options: AgentFileOptions;
  readonly #made: FileShares;
  #restore: ConfigRestore | undefined;
  #problem: string | null = null;

  constructor(options: AgentFileOptions) {
    this.#options = options;
    this.#made = FileShares.load(join(options.dataDir, FILE_SHARES_FILE), options.log);
  }

  /** Entries that are not yet as the file has them, each with its reason. */
  get failed(): { name: string; reason: string }[] {
    return this.#restore?.failed ?? [];
  }

  /** Why the file was not read again; null: it was. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Shares that the file made and no longer has are not hosted from here on. */
  prepare(config: AgentConfig | undefined): void {
    const { table, log } = this.#options;
    const shares = config?.shares;
    if (shares !== undefined) {
      for (const { name } of shares) table.resume(name);
      this.#made.list(shares.map(({ name }) => name));
      for (const { name } of this.#made.ended()) table.end(name);
    } else if (this.#made.size > 0)
      log.warn(
        { shares: this.#made.size },
        'this agent has shares of a configuration file, and now there is no file with a list of shares; they stay as they are',
      );
  }

  /** Resolves after the first attempt; what failed is tried again until `stop`. */
  async apply(config: AgentConfig | undefined): Promise<void> {
    if (config === undefined) return;
    const { commands, follower, table, accesses, own, log, retryMs } = this.#options;
    const { shares, accesses: wanted = [] } = config;
    await accesses.configure(
      wanted.map(({ share, listen, protocol = 'tcp' }) => ({ share, ...readHostPort(listen)!, protocol })),
    );
    await this.#restore?.stop();
    this.#restore = undefined;
    if (shares === undefined) return;
    const made = this.#made;
    this.#restore = new ConfigRestore({ retryMs, shares, commands, follower, table, made, own, log });
    await this.#restore.start();
  }

  /** Reads the file again. Rejects with its problems. */
  async reload(isClosing: () => boolean): Promise<void> {
    try {
      const config = await readAgentFile(this.#options.configFile);
      this.#problem = null;
      if (isClosing()) return;
      this.prepare(config);
      await this.apply(config);
    } catch (error) {
      if (error instanceof FrontdoorError) this.#problem = error.message;
      throw error;
    }
  }

  /** A command takes over a share that waits for its release. */
  leaveToCommand(name: string): void {
    if (this.#made.forget(name)) this.#options.table.resume(name);
  }

  stop(): void {
    void this.#restore?.stop();
  }
}
