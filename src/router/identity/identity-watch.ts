/**
 * Loads the identity again when its files change, for new connections only; what cannot be loaded is logged and the
 * old stays. Folders are watched, not files: certificates are replaced by renaming, and volumes by a link. `ca` alone
 * is not watched (OpenZiti's rule), but read with the others.
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, type Log } from '#base';
import type { IdentityConfig } from '../config/router-config.ts';
import { loadRouterIdentity, type RouterIdentity } from './router-identity.ts';

export interface IdentityWatchOptions {
  readonly identity: IdentityConfig;
  /** The section's path, for messages. */
  readonly where?: string;
  onLoaded(identity: RouterIdentity): void;
  readonly log: Log;
  /** Files change one after the other: how long it is waited for the rest. 1 s when absent. */
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

  /** Also without a change: of what is not watched. */
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

  /** Of the files as they are now; links are followed. */
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
    key,
    serverCert,
    serverKey,
    ...alternates.flatMap((one) => [one.serverCert, one.serverKey]),
  ];
  const files = named.filter(
    (text) => text !== undefined && !text.startsWith('pem:') && !text.includes('-----BEGIN'),
  );
  return [...new Set(files as string[])];
}
