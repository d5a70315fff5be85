/**
 * The shares that the configuration file made, in a file beside the identity. A share that is here and no longer in the
 * configuration file ends: this agent stops hosting it at once, and releases it as soon as the control plane can be
 * reached, also after a restart. Shares that commands or the Management API made are not here. ADR 0096.
 */
import type { Log } from '#base';
import { fileSharesShape, type FileShare } from '#domain/agent-shapes';
import { saveJsonFile, loadStateFile } from './state-file.ts';

export class FileShares {
  readonly #path: string;
  readonly #shares: Map<string, FileShare>;
  #listed: ReadonlySet<string> = new Set();

  private constructor(path: string, shares: Map<string, FileShare>) {
    this.#path = path;
    this.#shares = shares;
  }

  /** A damaged file is set aside and counts as empty. */
  static load(path: string, log: Log): FileShares {
    const consequence =
      'the list of shares of the configuration file cannot be read; release the shares that the file no longer has';
    const kept = loadStateFile(path, fileSharesShape, { log, consequence });
    return new FileShares(path, new Map((kept?.shares ?? []).map((share) => [share.name, share])));
  }

  get size(): number {
    return this.#shares.size;
  }

  /** Takes over the names that the configuration file has now. The others end. */
  list(names: readonly string[]): void {
    this.#listed = new Set(names);
    let changed = false;
    for (const name of names) {
      if (this.#shares.has(name)) continue;
      this.#shares.set(name, { name, id: '', upstream: [] });
      changed = true;
    }
    if (changed) this.save();
  }

  /** Those that the configuration file no longer has. */
  ended(): FileShare[] {
    return [...this.#shares.values()].filter(({ name }) => !this.#listed.has(name));
  }

  get(name: string): FileShare | undefined {
    return this.#shares.get(name);
  }

  /** Notes a share that stands as the configuration file has it; `save` writes the notes. */
  note(share: FileShare): void {
    this.#shares.set(share.name, share);
  }

  /** It was released, or a command made it its own. Returns false for a share that the configuration file has or never had. */
  forget(name: string): boolean {
    if (this.#listed.has(name) || !this.#shares.delete(name)) return false;
    this.save();
    return true;
  }

  save(): void {
    saveJsonFile(this.#path, fileSharesShape.numbered({ shares: [...this.#shares.values()] }));
  }
}
