/**
 * Creates or reclaims the shares of the configuration file at every start, a few at a time, and retries failed
 * ones later. Shares that exist as configured are skipped. Shares that were removed from the file are not
 * released, because a reserved name is given up only on request.
 */
import { BackOff, definedFields, FrontdoorError, type Log, messageOf } from '#base';
import { hasUpstream } from '#domain/upstream';
import type { ConfiguredShare } from './agent-config.ts';
import type { AgentShare } from './agent-network.ts';
import type { OwnTargets } from './own-targets.ts';
import type { ShareCommands } from './share-commands.ts';
import type { ShareFollower } from './share-follower.ts';
import { parseTarget } from './target-address.ts';

export interface ConfigRestoreOptions {
  readonly shares: readonly ConfiguredShare[];
  readonly commands: ShareCommands;
  readonly follower: ShareFollower;
  readonly own: OwnTargets;
  readonly log: Log;
  readonly atOnce?: number | undefined;
  /** First pause before failed entries are retried; it doubles up to a minute. */
  readonly retryMs?: number | undefined;
}

export class ConfigRestore {
  readonly #options: ConfigRestoreOptions;
  readonly #failed = new Map<string, string>();
  readonly #backOff: BackOff;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ConfigRestoreOptions) {
    this.#options = options;
    this.#backOff = new BackOff({ minMs: options.retryMs ?? 1_000, maxMs: 60_000, factor: 2 });
  }

  /** Entries that could not be shared so far, each with its reason. */
  get failed(): { name: string; reason: string }[] {
    return [...this.#failed].map(([name, reason]) => ({ name, reason }));
  }

  /** Resolves after the first round, whatever its result. */
  async start(): Promise<void> {
    const { shares, own } = this.#options;
    own.setAll(shares.flatMap((share) => ownTarget(share)));
    for (const share of shares) own.pin(share.name);
    await this.#round(shares);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #round(shares: readonly ConfiguredShare[]): Promise<void> {
    const { follower, log, own, atOnce = 4 } = this.#options;
    const standing = new Map<string, AgentShare>();
    try {
      for (const share of await follower.fetchShares()) standing.set(share.token, share);
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'restoring shares without the list of existing shares');
    }
    const waiting = [...shares];
    const again: ConfiguredShare[] = [];
    const work = async (): Promise<void> => {
      for (let share = waiting.shift(); share !== undefined && !this.#stopped; share = waiting.shift()) {
        if (!(await this.#restore(share, standing.get(share.name)))) again.push(share);
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, shares.length) }, work));
    if (this.#stopped) return;
    await follower.syncNow();
    if (again.length === 0) {
      for (const share of this.#options.shares) own.unpin(share.name);
      log.info({ shares: this.#options.shares.length }, 'shares of the configuration file were restored');
      return;
    }
    this.#timer = setTimeout(() => void this.#round(again), this.#backOff.next());
  }

  async #restore(share: ConfiguredShare, standing: AgentShare | undefined): Promise<boolean> {
    const { name, mode, target, grants = [], upstream } = share;
    try {
      if (standing === undefined || !stands(share, standing)) {
        await this.#options.commands.place(
          definedFields({ op: 'share', name, mode, target, grants, upstream }),
        );
      }
      this.#failed.delete(name);
      return true;
    } catch (error) {
      const reason = error instanceof FrontdoorError ? error.message : 'the agent failed; see its log';
      if (this.#failed.get(name) !== reason) {
        this.#options.log.warn(
          { share: name, error: messageOf(error) },
          'a share of the configuration file could not be restored',
        );
      }
      this.#failed.set(name, reason);
      return false;
    }
  }
}

function ownTarget(share: ConfiguredShare): [token: string, target: string][] {
  const parsed = parseTarget(share.target);
  return 'target' in parsed ? [[share.name, parsed.target.text]] : [];
}

/** Whether the existing share already is as configured, so that no write is necessary. */
function stands(share: ConfiguredShare, standing: AgentShare): boolean {
  const [wanted] = ownTarget(share);
  const is = parseTarget(standing.target);
  const grants = new Set(share.grants);
  return (
    standing.targetByAgent &&
    standing.reserved &&
    standing.shareMode === share.mode &&
    'target' in is &&
    is.target.text === wanted?.[1] &&
    standing.grants.length === grants.size &&
    standing.grants.every((grant) => grants.has(grant)) &&
    hasUpstream(standing.upstream ?? {}, share.upstream ?? {})
  );
}
