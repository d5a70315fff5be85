/**
 * The shares that this agent hosts, kept equal to what the control plane lists for it, whoever made them. Decides
 * for each where it may lead: a target that the agent itself asked for is taken as it is, any other must be inside
 * `--allow-target`; else the share is offered and every circuit refused with the reason, which its status shows.
 */
import type { AgentShareView, AllowedNetwork } from '#domain';
import type { Log } from '#base';
import type { BindableService, OverlayHost } from '#sdk';
import type { AgentShare } from './agent-network.ts';
import type { CircuitCopy } from './circuit-copy.ts';
import { HostedShare, type TargetWay } from './hosted-share.ts';
import type { OwnTargets } from './own-targets.ts';
import { parseTarget } from './share-target.ts';
import { refusalOf } from './target-connection.ts';
import type { TargetHealthMonitor } from './target-health.ts';
import type { TargetResolver } from './target-resolver.ts';

export interface ShareTableOptions {
  readonly host: OverlayHost;
  readonly health: TargetHealthMonitor;
  readonly resolver: TargetResolver;
  readonly own: OwnTargets;
  readonly allowTargets: readonly AllowedNetwork[];
  readonly log: Log;
  readonly maxCircuitsPerShare: number;
  readonly connectTimeoutMs: number;
  readonly retargetGraceMs: number;
  readonly targetCa?: string | undefined;
}

export class ShareRegistry {
  readonly #options: ShareTableOptions;
  /** By service id. */
  readonly #hosted = new Map<string, HostedShare>();
  #shares: readonly AgentShare[] = [];
  #onIdle: () => void = () => {};
  #closing = false;

  constructor(options: ShareTableOptions) {
    this.#options = options;
  }

  /** Both lists whole. False: a service has no share yet, ask again soon. */
  apply(services: readonly BindableService[], shares: readonly AgentShare[]): boolean {
    if (this.#closing) return true;
    this.#shares = shares;
    const byToken = new Map(shares.map((share) => [share.token, share]));
    this.#options.own.keepOnly(new Set(byToken.keys()));
    const listed = new Set(services.map((service) => service.id));
    for (const [id, hosted] of this.#hosted) {
      if (listed.has(id)) continue;
      this.#hosted.delete(id);
      hosted.close('the share was removed');
      this.#options.log.info({ share: hosted.service.name }, 'share was removed');
    }
    let complete = true;
    for (const service of services) {
      const share = byToken.get(service.name);
      if (share === undefined) {
        complete = false;
        continue;
      }
      const way = this.#wayOf(share);
      const hosted = this.#hosted.get(service.id);
      if (hosted === undefined)
        this.#hosted.set(service.id, new HostedShare({ ...this.#options, ...this.#fixed(), service, way }));
      else hosted.retarget(way);
    }
    return complete;
  }

  /** Fresh facts about the same shares, for views. */
  setShares(shares: readonly AgentShare[]): void {
    this.#shares = shares;
  }

  byToken(token: string): HostedShare | undefined {
    for (const hosted of this.#hosted.values()) if (hosted.service.name === token) return hosted;
    return undefined;
  }

  share(token: string): AgentShare | undefined {
    return this.#shares.find((share) => share.token === token);
  }

  views(): AgentShareView[] {
    const hosted = new Map([...this.#hosted.values()].map((each) => [each.service.name, each]));
    return this.#shares.map((share) => viewOf(share, hosted.get(share.token)));
  }

  view(share: AgentShare): AgentShareView {
    return viewOf(share, this.byToken(share.token));
  }

  /** Stops offering; resolves when no circuit is left or the time is over, whichever is first. */
  async drain(timeoutMs: number, quietMs: number, cut: AbortSignal): Promise<void> {
    this.#closing = true;
    for (const hosted of this.#hosted.values()) hosted.withdraw();
    if (timeoutMs <= 0 || cut.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const isIdle = (): void => {
      for (const hosted of this.#hosted.values()) if (hosted.circuits > 0) return;
      resolve();
    };
    this.#onIdle = isIdle;
    const deadline = setTimeout(resolve, timeoutMs);
    const sweep = this.#stopQuietCircuits(quietMs);
    cut.addEventListener('abort', () => resolve(), { once: true });
    isIdle();
    await promise;
    clearTimeout(deadline);
    clearInterval(sweep);
  }

  close(): void {
    this.#closing = true;
    for (const hosted of this.#hosted.values()) hosted.close('the agent stopped');
    this.#hosted.clear();
  }

  /**
   * Callers keep circuits for their next request. While draining, one where nothing moved for a while and the
   * service spoke last owes nobody an answer: it is broken off, so that the drain ends before its time.
   */
  #stopQuietCircuits(quietMs: number): NodeJS.Timeout {
    const seen = new Map<CircuitCopy, number>();
    return setInterval(() => {
      for (const hosted of this.#hosted.values()) {
        for (const copy of [...hosted.copies()]) {
          const bytes = copy.bytesFromService + copy.bytesToService;
          const quiet = seen.get(copy) === bytes;
          if (quiet && (copy.serviceSpokeLast || bytes === 0)) copy.stop('the agent is stopping');
          else seen.set(copy, bytes);
        }
      }
    }, quietMs);
  }

  #fixed(): { onIdle: () => void; maxCircuits: number } {
    return { onIdle: () => this.#onIdle(), maxCircuits: this.#options.maxCircuitsPerShare };
  }

  #wayOf(share: AgentShare): TargetWay {
    const parsed = parseTarget(share.target);
    if ('problem' in parsed) return parsed;
    const { target } = parsed;
    if (share.targetByAgent && this.#options.own.has(share.token, target.text))
      return { target, only: undefined };
    const refusal = refusalOf(target, this.#options.allowTargets);
    return refusal === undefined
      ? { target, only: this.#options.allowTargets }
      : { problem: refusal.message };
  }
}

function viewOf(share: AgentShare, hosted: HostedShare | undefined): AgentShareView {
  const problem = hosted?.problem ?? (share.status === 'FAILED' ? share.failure?.lastError : undefined);
  return {
    token: share.token,
    name: share.name,
    mode: share.shareMode,
    target: share.target,
    reserved: share.reserved,
    endpoints: share.frontendEndpoints,
    status: share.status,
    hosting: hosted?.hosting ?? 'none',
    healthy: hosted?.healthy ?? null,
    problem: problem ?? null,
    circuits: hosted?.circuits ?? 0,
  };
}
