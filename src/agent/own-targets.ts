/**
 * The targets that were set on this agent's own command line or in its configuration file, by share. They are
 * stored beside the identity, because the control plane alone must not open this machine's network: without
 * `--allow-target`, a target is only accepted if both records show that the agent set it.
 */
import type { Log } from '#base';
import { ownTargetsShape } from '#domain/agent-shapes';
import { loadStateFile, saveJsonFile } from './state-file.ts';

export class OwnTargets {
  readonly #path: string;
  readonly #targets: Map<string, string>;
  /** Shares that are being created: not listed yet, so they must not be removed. */
  readonly #pinned = new Set<string>();
  /** Shares that were created and are in no list so far: one that is late was read before. */
  readonly #unlisted = new Set<string>();

  private constructor(path: string, targets: Map<string, string>) {
    this.#path = path;
    this.#targets = targets;
  }

  /** A damaged file is set aside and counts as empty. Shares that relied on it are refused until they are shared again. */
  static load(path: string, log: Log): OwnTargets {
    const consequence = 'the list of own targets cannot be read; share refused targets again';
    const kept = loadStateFile(path, ownTargetsShape, { log, consequence });
    return new OwnTargets(path, new Map(Object.entries(kept?.targets ?? {})));
  }

  has(token: string, target: string): boolean {
    return this.#targets.get(token) === target;
  }

  get(token: string): string | undefined {
    return this.#targets.get(token);
  }

  set(token: string, target: string | undefined): void {
    if (target === undefined) this.#unlisted.delete(token);
    if (this.#targets.get(token) === target) return;
    if (target === undefined) this.#targets.delete(token);
    else this.#targets.set(token, target);
    this.#save();
  }

  /** The target of a share that was created now. */
  setCreated(token: string, target: string): void {
    this.#unlisted.add(token);
    this.set(token, target);
  }

  setAll(entries: Iterable<readonly [token: string, target: string]>): void {
    let changed = false;
    for (const [token, target] of entries) {
      if (this.#targets.get(token) === target) continue;
      this.#targets.set(token, target);
      changed = true;
    }
    if (changed) this.#save();
  }

  pin(token: string): void {
    this.#pinned.add(token);
  }

  unpin(token: string): void {
    this.#pinned.delete(token);
  }

  /** Replaces the targets for paths of a share. Each is kept under the token and its path. */
  setRoutes(token: string, routes: readonly (readonly [path: string, target: string])[]): void {
    const wanted = new Map(routes.map(([path, target]) => [token + path, target]));
    for (const key of [...this.#targets.keys()])
      if (key.startsWith(`${token}/`) && !wanted.has(key)) this.set(key, undefined);
    this.setAll(wanted);
  }

  /** Removes shares that no longer exist. */
  keepOnly(tokens: ReadonlySet<string>): void {
    let changed = false;
    for (const token of tokens) this.#unlisted.delete(token);
    for (const key of this.#targets.keys()) {
      const [token = ''] = key.split('/', 1);
      if (tokens.has(token) || this.#pinned.has(token) || this.#unlisted.has(token)) continue;
      this.#targets.delete(key);
      changed = true;
    }
    if (changed) this.#save();
  }

  #save(): void {
    const targets = Object.fromEntries(this.#targets);
    saveJsonFile(this.#path, ownTargetsShape.numbered({ targets }));
  }
}
