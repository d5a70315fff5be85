/**
 * The shares that this agent hosts, kept equal to the control plane's list, whichever way they were created.
 * Decides whether each target is allowed: a target that the agent itself set is accepted, any other must be
 * inside `--allow-target`. Otherwise the share is hosted, but every circuit is refused with the reason, which its
 * status shows.
 */
import { BACKEND_MODES } from '#domain';
import { schemeFacts } from '#domain/backend-modes';
import type { AgentShareView } from '#domain/agent-shapes';
import { targetTlsProblems } from '#domain/upstream';
import { definedFields, type Log } from '#base';
import { contain } from '#net';
import type { BindableService, OverlayHost } from '#sdk';
import type { AgentShare } from './agent-network.ts';
import { AgentTraffic } from './agent-traffic.ts';
import type { CircuitCopy } from './circuit-copy.ts';
import type { BackendParts, JudgedBackend } from './backends/backend.ts';
import { backendOf } from './backends/backend-of-mode.ts';
import { ShareHost, type HostedShareOptions } from './share-host.ts';
import type { OwnTargets } from './own-targets.ts';
import { parseTarget } from './target-address.ts';
import type { TargetHealthMonitor } from './backends/target-health.ts';

export interface ShareRegistryOptions {
  readonly host: OverlayHost;
  readonly health: TargetHealthMonitor;
  readonly backends: BackendParts;
  readonly own: OwnTargets;
  readonly log: Log;
  readonly maxCircuitsPerShare: number;
  readonly retargetGraceMs: number;
}

/** The last step of a drain refuses new circuits. Together with a restart it is shorter than gateways hold requests. */
const LAST_MS = 1_000;
const LAST_QUIET_MS = 100;

interface DrainStep {
  /** How long a circuit must be idle before it is broken off, and which circuits; undefined: all. */
  readonly quietMs: number;
  readonly of: ReadonlySet<CircuitCopy> | undefined;
  readonly cut: AbortSignal;
}

export class ShareRegistry {
  readonly traffic = new AgentTraffic();
  readonly #options: ShareRegistryOptions;
  /** By service id. */
  readonly #hosted = new Map<string, ShareHost>();
  /** Tokens of shares that a defect ended here. */
  readonly #failed = new Set<string>();
  /** Tokens of shares that are to be released: they are not hosted, however long the control plane lists them. */
  readonly #ended = new Set<string>();
  #shares: readonly AgentShare[] = [];
  #onIdle: () => void = () => {};
  #closing = false;

  constructor(options: ShareRegistryOptions) {
    this.#options = options;
  }

  /** Both lists are complete. Returns false if a service has no share yet, so that the caller must fetch again soon. */
  apply(services: readonly BindableService[], shares: readonly AgentShare[]): boolean {
    if (this.#closing) return true;
    this.#shares = shares;
    const byToken = new Map(shares.map((share) => [share.token, share]));
    this.#options.own.keepOnly(new Set(byToken.keys()));
    for (const token of this.#failed) if (!byToken.has(token)) this.#failed.delete(token);
    const wanted = services.filter(({ name }) => !this.#ended.has(name));
    const listed = new Set(wanted.map((service) => service.id));
    for (const [id, hosted] of this.#hosted) {
      if (listed.has(id)) continue;
      this.#remove(id, 'the share was removed');
      this.#options.log.info({ share: hosted.service.name }, 'share was removed');
    }
    let complete = true;
    for (const service of wanted) {
      const share = byToken.get(service.name);
      if (share === undefined) {
        complete = false;
        continue;
      }
      const { log } = this.#options;
      const fail = (): void => this.#fail(service);
      contain({ kind: 'share', id: service.name, log, fail }, () => this.#host(service, share));
    }
    return complete;
  }

  #host(service: BindableService, share: AgentShare): void {
    this.#failed.delete(service.name);
    const backend = this.#backendOf(share);
    const paths = this.#pathBackendsOf(share);
    const hosted = this.#hosted.get(service.id);
    if (hosted === undefined)
      this.#hosted.set(
        service.id,
        new ShareHost({
          ...this.#options,
          ...this.#fixed(),
          service,
          backend,
          paths,
          isPublic: share.shareMode === 'public',
        }),
      );
    else {
      hosted.follow(service);
      hosted.retarget(backend);
      hosted.retargetPaths(paths);
    }
  }

  /** The share is hosted again when the lists are applied next, at the latest with the next refresh. */
  #fail({ id, name }: BindableService): void {
    this.#failed.add(name);
    this.#remove(id, 'internal error of the agent');
  }

  #remove(serviceId: string, reason: string): void {
    const hosted = this.#hosted.get(serviceId);
    this.#hosted.delete(serviceId);
    if (hosted === undefined) return;
    const { log } = this.#options;
    contain({ kind: 'share', id: hosted.service.name, log }, () => hosted.close(reason));
  }

  /** Stops hosting a share, now and until `resume`. */
  end(token: string): void {
    this.#ended.add(token);
    const hosted = this.byToken(token);
    if (hosted !== undefined) this.#remove(hosted.service.id, 'the share was removed');
  }

  /** A share with this token may be hosted again. */
  resume(token: string): void {
    this.#ended.delete(token);
  }

  /** Updates the records of the same shares, for views. */
  setShares(shares: readonly AgentShare[]): void {
    this.#shares = shares;
  }

  byToken(token: string): ShareHost | undefined {
    for (const hosted of this.#hosted.values()) if (hosted.service.name === token) return hosted;
    return undefined;
  }

  share(token: string): AgentShare | undefined {
    return this.#shares.find((share) => share.token === token);
  }

  views(): AgentShareView[] {
    const hosted = new Map([...this.#hosted.values()].map((each) => [each.service.name, each]));
    return this.#shares.map((share) => this.#viewOf(share, hosted.get(share.token)));
  }

  view(share: AgentShare): AgentShareView {
    return this.#viewOf(share, this.byToken(share.token));
  }

  /**
   * First lowers the precedence, so that other hosts are preferred, and lets existing circuits end; shares
   * without another host are still served. Then stops hosting, and lets the remaining circuits end. Resolves
   * after `timeoutMs` at the latest.
   */
  async drain(timeoutMs: number, quietMs: number, cut: AbortSignal): Promise<void> {
    this.#closing = true;
    const deadlineMs = performance.now() + timeoutMs;
    if (timeoutMs > 0) {
      for (const hosted of this.#hosted.values()) hosted.lower();
      const standing = new Set(this.#copies());
      for (const copy of standing) copy.drain();
      const isOver = (): boolean => {
        for (const copy of this.#copies()) if (standing.has(copy)) return false;
        return true;
      };
      await this.#until(isOver, timeoutMs, { quietMs, of: standing, cut });
    }
    for (const hosted of this.#hosted.values()) hosted.withdraw();
    if (timeoutMs <= 0 || cut.aborted) return;
    const isIdle = (): boolean => [...this.#hosted.values()].every(({ circuits }) => circuits === 0);
    const lastMs = Math.max(LAST_QUIET_MS, Math.min(LAST_MS, deadlineMs - performance.now()));
    await this.#until(isIdle, lastMs, { quietMs: Math.min(quietMs, LAST_QUIET_MS), of: undefined, cut });
  }

  close(): void {
    this.#closing = true;
    for (const id of [...this.#hosted.keys()]) this.#remove(id, 'the agent stopped');
  }

  #viewOf(share: AgentShare, hosted: ShareHost | undefined): AgentShareView {
    return viewOf(share, hosted, this.#failed.has(share.token));
  }

  *#copies(): Generator<CircuitCopy> {
    for (const hosted of this.#hosted.values()) yield* hosted.copies();
  }

  /** Resolves when the condition holds, the time is over or the wait is cut. Idle circuits are broken off in the meantime. */
  async #until(isSo: () => boolean, timeoutMs: number, { quietMs, of, cut }: DrainStep): Promise<void> {
    if (cut.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (isSo()) resolve();
    };
    this.#onIdle = look;
    const deadline = setTimeout(resolve, timeoutMs);
    const sweep = this.#stopQuietCircuits(quietMs, of);
    const onCut = (): void => resolve();
    cut.addEventListener('abort', onCut, { once: true });
    look();
    await promise;
    cut.removeEventListener('abort', onCut);
    clearTimeout(deadline);
    clearInterval(sweep);
  }

  /**
   * Callers keep circuits for their next request. While draining, a circuit that was idle for a while after the
   * service sent the last bytes has no outstanding response, so it is broken off and the drain can end early.
   */
  #stopQuietCircuits(quietMs: number, of: ReadonlySet<CircuitCopy> | undefined): NodeJS.Timeout {
    const seen = new Map<CircuitCopy, number>();
    return setInterval(() => {
      for (const copy of [...this.#copies()]) {
        if (of?.has(copy) === false) continue;
        const bytes = copy.bytesFromService + copy.bytesToService;
        const quiet = seen.get(copy) === bytes;
        if (quiet && (copy.serviceSpokeLast || bytes === 0)) copy.stop('the agent is stopping');
        else seen.set(copy, bytes);
      }
    }, quietMs);
  }

  #fixed(): Pick<HostedShareOptions, 'onIdle' | 'maxCircuits' | 'traffic'> {
    return {
      onIdle: () => this.#onIdle(),
      maxCircuits: this.#options.maxCircuitsPerShare,
      traffic: this.traffic,
    };
  }

  #backendOf(share: AgentShare): JudgedBackend {
    const { backendMode: mode } = share;
    if (!BACKEND_MODES.includes(mode))
      return { problem: `this agent does not know the backend mode ${mode}: upgrade the agent` };
    const parsed = parseTarget(share.target);
    if ('problem' in parsed) return parsed;
    const [wrong] = targetTlsProblems(share.upstream ?? {});
    if (wrong !== undefined)
      return { problem: `${wrong.field} of the share must be a ${wrong.rule}: upgrade the agent` };
    const { own, backends } = this.#options;
    const isOwn = share.targetByAgent && own.has(share.token, parsed.target.text);
    return backendOf(parsed.target, isOwn, backends, share.upstream);
  }

  /** The targets for paths of the share. Their certificates are verified by default: the settings are for its own target. */
  #pathBackendsOf({ token, upstream = {} }: AgentShare): ReadonlyMap<string, JudgedBackend> {
    const { own, backends } = this.#options;
    const { routes = [], connectTimeoutSeconds } = upstream;
    const settings = definedFields({ connectTimeoutSeconds });
    return new Map(
      routes.map(({ path, target }) => {
        const parsed = parseTarget(target);
        if ('problem' in parsed) return [path, parsed];
        const isOwn = own.has(token + path, parsed.target.text);
        return [path, backendOf(parsed.target, isOwn, backends, settings)];
      }),
    );
  }
}

function isUnverified({
  target,
  upstream: { tlsInsecure = false, tlsPin = null } = {},
}: AgentShare): boolean {
  return tlsInsecure && tlsPin === null && schemeFacts(target).isTls;
}

function viewOf(share: AgentShare, hosted: ShareHost | undefined, isFailed: boolean): AgentShareView {
  const defect = isFailed ? 'internal error of the agent; its log has the reason' : undefined;
  const failure = share.status === 'FAILED' ? share.failure?.lastError : undefined;
  const problem = defect ?? hosted?.problem ?? failure;
  return {
    token: share.token,
    name: share.name,
    mode: share.shareMode,
    target: share.target,
    reserved: share.reserved,
    endpoints: share.frontendEndpoints,
    status: share.status,
    hosting: hosted?.hosting ?? (isFailed ? 'failed' : 'none'),
    healthy: hosted?.healthy ?? null,
    problem: problem ?? null,
    circuits: hosted?.circuits ?? 0,
    isUnverified: isUnverified(share),
    domains: share.domains ?? [],
  };
}
