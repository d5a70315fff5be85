/**
 * Reloads the identity when its files change, for new connections only. If the new files cannot be loaded, it logs that
 * and keeps the old identity. It watches folders instead of files, because certificates are replaced by renaming, and
 * volumes by a link. `ca` alone is not watched (OpenZiti's rule), but reloaded with the others.
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, type Log } from '#base';
import type { IdentityConfig } from '../config/router-config.ts';
import { isInlinePem } from '../config/text-kinds.ts';
import { loadRouterIdentity, type RouterIdentity } from './router-identity.ts';

export interface IdentityWatchOptions {
  readonly identity: IdentityConfig;
  /** The path of the section, for messages. */
  readonly where?: string;
  onLoaded(identity: RouterIdentity): void;
  readonly log: Log;
  /** Delay after a change, because files change one after the other. 1 s by default. */
  readonly settleMs?: number;
}

export class IdentityWatch {
  readonly #options: IdentityWatchOptions;
  readonly #paths: readonly string[];
  readonly #watchers: FSWatcher[] = [];
  #seen: string;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdentityWatchOptions) {
    this.#options = options;
    this.#paths = watchedPaths(options.identity);
    this.#seen = this.#fingerprint();
    for (const folder of new Set(this.#paths.map((path) => dirname(path)))) {
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#onEvent());
        watcher.on('error', (error) => this.#onUnwatchable(folder, error));
        this.#watchers.push(watcher);
      } catch (error) {
        this.#onUnwatchable(folder, error);
      }
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #onEvent(): void {
    if (this.#fingerprint() === this.#seen) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.reload(), this.#options.settleMs ?? 1_000);
  }

  /** Reloads even without a change, to include files that are not watched. */
  reload(): void {
    const { identity, where = 'identity', log } = this.#options;
    this.#seen = this.#fingerprint();
    try {
      this.#options.onLoaded(loadRouterIdentity(identity, where));
    } catch (error) {
      log.error(
        { section: where, err: messageOf(error) },
        'changed identity files are not usable; keeping the old ones',
      );
    }
  }

  #onUnwatchable(folder: string, error: unknown): void {
    this.#options.log.warn(
      { folder, err: messageOf(error) },
      'identity files cannot be watched; changes require a restart',
    );
  }

  /** Describes the current files. Follows links. */
  #fingerprint(): string {
    return this.#paths
      .map((path) => {
        const stat = statSync(path, { throwIfNoEntry: false });
        return stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
      })
      .join(' ');
  }
}

function watchedPaths({ cert, key, serverCert, serverKey, alternates }: IdentityConfig): string[] {
  const named = [
    cert,
    key.reveal(),
    serverCert,
    serverKey?.reveal(),
    ...alternates.flatMap((one) => [one.serverCert, one.serverKey?.reveal()]),
  ];
  const files = named.filter((text) => text !== undefined && !isInlinePem(text));
  return [...new Set(files as string[])];
}
