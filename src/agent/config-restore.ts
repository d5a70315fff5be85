/**
 * Makes the agent's shares as the configuration file has them, at every start and reload, a few at a time, and retries
 * what failed. Shares that exist as configured are skipped. Shares that the file made and no longer has are released;
 * others are left alone (ADR 0096).
 */
import { BackOff, definedFields, FrontdoorError, type Log, messageOf } from '#base';
import type { FileShare } from '#domain/agent-shapes';
import { DEFAULT_UPSTREAM, hasUpstream, type ShareUpstreamChange } from '#domain/upstream';
import type { ConfiguredShare } from '#contract/schemas';
import type { AgentShare } from './agent-network.ts';
import type { FileShares } from './file-shares.ts';
import type { OwnTargets } from './own-targets.ts';
import type { ShareCommands } from './share-commands.ts';
import type { ShareFollower } from './share-follower.ts';
import type { ShareRegistry } from './share-registry.ts';
import { parseTarget, routeTargets } from './target-address.ts';

export interface ConfigRestoreOptions {
  readonly shares: readonly ConfiguredShare[];
  readonly commands: ShareCommands;
  readonly follower: ShareFollower;
  readonly table: ShareRegistry;
  readonly made: FileShares;
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
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: ConfigRestoreOptions) {
    this.#options = options;
    this.#backOff = new BackOff({ minMs: options.retryMs ?? 1_000, maxMs: 60_000, factor: 2 });
  }

  /** Entries that could not be shared or released so far, each with its reason. */
  get failed(): { name: string; reason: string }[] {
    return [...this.#failed].map(([name, reason]) => ({ name, reason }));
  }

  /** Resolves after the first round, whatever its result. */
  async start(): Promise<void> {
    const { shares, own, made } = this.#options;
    own.setAll(shares.flatMap((share) => ownTarget(share)));
    for (const { name, upstream } of shares) {
      own.pin(name);
      if (upstream?.routes !== undefined) own.setRoutes(name, routeTargets(upstream.routes));
    }
    // Their targets stay refused if the next start has no configuration file.
    for (const { name } of made.ended()) own.set(name, undefined);
    await this.#run(shares);
  }

  /** Resolves when no call of it is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    for (const share of this.#options.shares) this.#options.own.unpin(share.name);
  }

  #run(shares: readonly ConfiguredShare[]): Promise<void> {
    this.#running = this.#round(shares);
    return this.#running;
  }

  async #round(shares: readonly ConfiguredShare[]): Promise<void> {
    const { follower, made, log, own } = this.#options;
    const listed = follower.fetchShares().then((all) => new Map(all.map((share) => [share.token, share])));
    const standing = await listed.catch((error: unknown) => {
      log.debug({ error: messageOf(error) }, 'restoring shares without the list of existing shares');
      return undefined;
    });
    // Released first: the file may give a target, or the place in a limit, to another name.
    const unreleased = await this.#each(made.ended(), (share) => this.#release(share, listed));
    const again = await this.#each(shares, (share) => this.#restore(share, standing?.get(share.name)));
    if (shares.length > 0) made.save();
    if (this.#stopped) return;
    await follower.syncNow();
    if (again.length === 0 && unreleased.length === 0) {
      for (const share of this.#options.shares) own.unpin(share.name);
      log.info({ shares: this.#options.shares.length }, 'shares of the configuration file were restored');
      return;
    }
    this.#timer = setTimeout(() => void this.#run(again), this.#backOff.next());
  }

  /** Returns those for which it did not succeed. */
  async #each<T>(all: readonly T[], act: (one: T) => Promise<boolean>): Promise<T[]> {
    const { atOnce = 4 } = this.#options;
    const waiting = [...all];
    const again: T[] = [];
    const work = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined && !this.#stopped; one = waiting.shift())
        if (!(await act(one))) again.push(one);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, work));
    return again;
  }

  async #restore(share: ConfiguredShare, standing: AgentShare | undefined): Promise<boolean> {
    const { name, mode, target, grants = [], authProviders, policy, sharedPolicy } = share;
    const { made, commands } = this.#options;
    const upstream = { ...removedSettings(made.get(name), share), ...share.upstream };
    return this.#attempt(name, 'a share of the configuration file could not be restored', async () => {
      const { id } =
        standing !== undefined && stands(share, upstream, standing)
          ? standing
          : await commands.place(
              definedFields({
                op: 'share' as const,
                name,
                mode,
                target,
                grants,
                upstream,
                authProviders,
                policy,
                sharedPolicy,
                domains: share.domains,
                ingress: share.ingress,
                ingressPort: share.ingressPort,
              }),
            );
      made.note({ name, id, upstream: Object.keys(share.upstream ?? {}) });
    });
  }

  /** A share of the same name that was made since by other means is left alone. */
  async #release(share: FileShare, listed: Promise<ReadonlyMap<string, AgentShare>>): Promise<boolean> {
    const { name, id } = share;
    const { made, commands, table, log } = this.#options;
    return this.#attempt(
      name,
      'a share that the configuration file no longer has could not be released',
      async () => {
        const is = (await listed).get(name);
        const isOurs = (): boolean => made.get(name) === share && (id === '' || is?.id === id);
        if (await commands.releaseIf(name, isOurs))
          log.info({ share: name }, 'a share that the configuration file no longer has was released');
        made.forget(name);
        table.resume(name);
      },
    );
  }

  async #attempt(name: string, failure: string, act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      this.#failed.delete(name);
      return true;
    } catch (error) {
      const reason = error instanceof FrontdoorError ? error.message : 'the agent failed; see its log';
      if (this.#failed.get(name) !== reason)
        this.#options.log.warn({ share: name, error: messageOf(error) }, failure);
      this.#failed.set(name, reason);
      return false;
    }
  }
}

/** The defaults of settings that the file had and no longer has. */
function removedSettings(
  former: FileShare | undefined,
  { upstream = {} }: ConfiguredShare,
): ShareUpstreamChange {
  const removed = (former?.upstream ?? []).filter((field) => !Object.hasOwn(upstream, field));
  const defaults = Object.entries(DEFAULT_UPSTREAM).filter(([field]) => removed.includes(field));
  return Object.fromEntries(defaults);
}

function ownTarget(share: ConfiguredShare): [token: string, target: string][] {
  const parsed = parseTarget(share.target);
  return 'target' in parsed ? [[share.name, parsed.target.text]] : [];
}

/**
 * Whether the existing share already is as configured, so that no write is necessary. Its guards are known to the control plane
 * alone, which writes nothing if they are as wanted.
 */
function stands(share: ConfiguredShare, upstream: ShareUpstreamChange, standing: AgentShare): boolean {
  const [wanted] = ownTarget(share);
  const is = parseTarget(standing.target);
  const grants = new Set(share.grants);
  const domains = new Set((standing.domains ?? []).map(({ hostname }) => hostname));
  return (
    share.authProviders === undefined &&
    share.policy === undefined &&
    share.sharedPolicy === undefined &&
    standing.targetByAgent &&
    standing.reserved &&
    standing.shareMode === share.mode &&
    'target' in is &&
    is.target.text === wanted?.[1] &&
    standing.grants.length === grants.size &&
    standing.grants.every((grant) => grants.has(grant)) &&
    (share.ingress ?? standing.ingress) === standing.ingress &&
    (share.ingressPort ?? standing.ingressPort) === standing.ingressPort &&
    (share.domains ?? []).every((domain) => domains.has(domain.toLowerCase())) &&
    hasUpstream(standing.upstream ?? {}, upstream)
  );
}
