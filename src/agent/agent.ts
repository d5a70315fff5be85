/**
 * The agent program: one process beside private services, which enrolls, hosts shares and answers its control
 * socket. Holds the identity and the list of own targets in its data directory, guarded by a lock file. Stopping
 * it never releases a share: they stand until released by name or through the Management API.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  AGENT_SOCKET_FILE,
  checkSocketPath,
  parseAllowedNetworks,
  type AgentRequest,
  type AgentStatusResult,
  type AgentVersionResult,
  type AllowedNetwork,
} from '#domain';
import { FrontdoorError, type Log, messageOf } from '#base';
import type { MetricsWriter } from '#net';
import { acquireAgentLock, type AgentLock } from './agent-lock.ts';
import { writeAgentMetrics } from './agent-metrics.ts';
import type { AgentNetwork } from './agent-network.ts';
import type { ConfiguredShare } from './agent-config.ts';
import { ConfigRestore } from './config-restore.ts';
import { openControlSocket, type ControlSocket } from './control-socket.ts';
import { OwnTargets } from './own-targets.ts';
import { ShareCommands } from './share-commands.ts';
import { ShareFollower } from './share-follower.ts';
import { ShareRegistry } from './share-registry.ts';
import { TargetHealthMonitor, type TargetHealthOptions } from './target-health.ts';
import { TargetResolver } from './target-resolver.ts';

/** As many as a gateway has connections: a crowd that is slow there does not shut a share for everybody else. */
const MAX_CIRCUITS_PER_SHARE = 16_384;

export interface AgentOptions {
  /** Made when absent; one agent at a time. */
  readonly dataDir: string;
  /** Default: `agent.sock` in the data directory. */
  readonly socketPath?: string | undefined;
  /** Targets that the Management API may set: `CIDR:PORTS` each. */
  readonly allowTargets: readonly string[];
  readonly configFile?: string | undefined;
  readonly version: string;
  readonly log: Log;
  /** Enrolls when needed and connects; called once, with the lock held. */
  readonly openNetwork: () => Promise<AgentNetwork>;
  /** CA certificates (PEM) that https targets are verified with; default: the system's. */
  readonly targetCa?: string | undefined;
  readonly maxCircuitsPerShare?: number | undefined;
  readonly timing?: AgentTiming;
}

/** Milliseconds; the defaults are the product's. */
export interface AgentTiming {
  readonly pollMs?: number;
  readonly refreshMs?: number;
  readonly connectTimeoutMs?: number;
  readonly retargetGraceMs?: number;
  readonly readyTimeoutMs?: number;
  readonly settleMs?: number;
  readonly lockCheckMs?: number;
  readonly drainQuietMs?: number;
  readonly retryMs?: number;
  readonly health?: Omit<TargetHealthOptions, 'resolver'>;
}

export interface Agent {
  readonly environmentId: string;
  readonly socketPath: string;
  /** Resolves once all is closed, whoever asked for it; `lost` when another process took the data directory. */
  readonly closed: Promise<{ readonly reason: 'asked' | 'lost' }>;
  /** For Prometheus. */
  readonly writeMetrics: MetricsWriter;
  /** Reads the configuration file again, if there is one: its shares are made or taken back. Rejects with what is wrong in it. */
  reload(): Promise<void>;
  /**
   * Gives the data directory to whoever starts next, lets circuits end for so long, closes; what no other agent and no
   * successor hosts is served meanwhile. Again with less time: that time holds.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

export const AGENT_DRAIN_MS = 30_000;
const OWN_TARGETS_FILE = 'agent-shares.json';

/** Throws `FrontdoorError` when it cannot start; a control plane that is away is no reason once enrolled. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { dataDir, version, log } = options;
  const socketPath = options.socketPath ?? join(dataDir, AGENT_SOCKET_FILE);
  const problem = checkSocketPath(socketPath, process.platform);
  if (problem !== undefined) throw new FrontdoorError('invalid', 'socket-path', problem);
  const allowTargets = parseAllowTargets(options.allowTargets);
  const shares = await configuredShares(options);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = acquireAgentLock(dataDir, socketPath, version);
  let network: AgentNetwork | undefined;
  try {
    network = await options.openNetwork();
    const own = OwnTargets.load(join(dataDir, OWN_TARGETS_FILE), log);
    const agent = new RunningAgent({ options, lock, network, own, allowTargets, socketPath });
    await agent.start(shares);
    return agent;
  } catch (error) {
    await network?.close();
    lock.release();
    throw error;
  }
}

/** None without a configuration file. */
async function configuredShares({ configFile }: AgentOptions): Promise<readonly ConfiguredShare[]> {
  if (configFile === undefined) return [];
  // Loaded when needed: the schema compiler would be a fifth of an idle agent's memory.
  return (await import('./agent-config.ts')).loadAgentConfig(configFile).shares;
}

/** All problems in one error. */
export function parseAllowTargets(texts: readonly string[]): readonly AllowedNetwork[] {
  return parseAllowedNetworks('--allow-target', texts);
}

interface Parts {
  readonly options: AgentOptions;
  readonly lock: AgentLock;
  readonly network: AgentNetwork;
  readonly own: OwnTargets;
  readonly allowTargets: readonly AllowedNetwork[];
  readonly socketPath: string;
}

class RunningAgent implements Agent {
  readonly environmentId: string;
  readonly socketPath: string;
  readonly closed: Promise<{ readonly reason: 'asked' | 'lost' }>;
  readonly writeMetrics: MetricsWriter = (to) =>
    writeAgentMetrics(to, {
      isConnected: this.#follower.state === 'connected',
      shares: this.#table.views(),
      targets: this.#health.counts(),
      traffic: this.#table.traffic,
    });
  readonly #parts: Parts;
  readonly #startedAt = new Date().toISOString();
  readonly #health: TargetHealthMonitor;
  readonly #table: ShareRegistry;
  readonly #follower: ShareFollower;
  readonly #commands: ShareCommands;
  readonly #cutDrain = new AbortController();
  readonly #tellClosed: (how: { readonly reason: 'asked' | 'lost' }) => void;
  #restore: ConfigRestore | undefined;
  #socket: ControlSocket | undefined;
  #lockTimer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    const { options, network, own, allowTargets } = parts;
    const { log, version, timing = {} } = options;
    const resolver = new TargetResolver();
    this.#parts = parts;
    this.environmentId = network.environmentId;
    this.socketPath = parts.socketPath;
    const { promise, resolve } = Promise.withResolvers<{ readonly reason: 'asked' | 'lost' }>();
    this.closed = promise;
    this.#tellClosed = resolve;
    this.#health = new TargetHealthMonitor({ ...timing.health, resolver });
    this.#table = new ShareRegistry({
      host: network.host,
      health: this.#health,
      resolver,
      own,
      allowTargets,
      log,
      maxCircuitsPerShare: options.maxCircuitsPerShare ?? MAX_CIRCUITS_PER_SHARE,
      connectTimeoutMs: timing.connectTimeoutMs ?? 5_000,
      retargetGraceMs: timing.retargetGraceMs ?? 5_000,
      targetCa: options.targetCa,
    });
    const { controlPlane } = network;
    this.#follower = new ShareFollower({ ...timing, controlPlane, table: this.#table, version, log });
    this.#commands = new ShareCommands({
      ...timing,
      controlPlane,
      own,
      table: this.#table,
      follower: this.#follower,
    });
  }

  async start(shares: readonly ConfiguredShare[]): Promise<void> {
    const { options, lock, network } = this.#parts;
    const { log, timing = {} } = options;
    this.#socket = await openControlSocket({
      path: this.socketPath,
      log,
      handle: (request) => this.#handle(request),
    });
    await this.#follower.start();
    await this.#restoreShares(shares);
    this.#lockTimer = setInterval(() => {
      if (lock.isHeld()) return;
      log.error(
        { dataDir: options.dataDir },
        'another process took over the data directory; this agent stops',
      );
      void this.#close(0, 'lost');
    }, timing.lockCheckMs ?? 10_000);
    log.info(
      { environmentId: network.environmentId, name: network.environmentName, socket: this.socketPath },
      'agent is running',
    );
  }

  async reload(): Promise<void> {
    const shares = await configuredShares(this.#parts.options);
    if (this.#closing === undefined) await this.#restoreShares(shares);
  }

  async #restoreShares(shares: readonly ConfiguredShare[]): Promise<void> {
    const { options, own } = this.#parts;
    const { log, timing = {} } = options;
    this.#restore?.stop();
    this.#restore = undefined;
    if (shares.length === 0) return;
    this.#restore = new ConfigRestore({
      ...(timing.retryMs === undefined ? {} : { retryMs: timing.retryMs }),
      shares,
      commands: this.#commands,
      follower: this.#follower,
      own,
      log,
    });
    await this.#restore.start();
  }

  async close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    await this.#close(drainMs, 'asked');
  }

  async #close(drainMs: number, reason: 'asked' | 'lost'): Promise<void> {
    if (this.#closing !== undefined) {
      const timer = setTimeout(() => this.#cutDrain.abort(), drainMs);
      await this.#closing;
      clearTimeout(timer);
      return;
    }
    this.#closing = this.#closeParts(drainMs);
    await this.#closing;
    this.#tellClosed({ reason });
  }

  async #closeParts(drainMs: number): Promise<void> {
    const { network, lock, options } = this.#parts;
    clearInterval(this.#lockTimer);
    this.#restore?.stop();
    this.#follower.stop();
    await this.#socket?.close(1_000);
    // From here on another process may take the directory, and with it the shares.
    lock.release();
    await this.#table.drain(drainMs, options.timing?.drainQuietMs ?? 2_000, this.#cutDrain.signal);
    this.#table.close();
    this.#health.close();
    try {
      await network.close();
    } catch (error) {
      options.log.warn({ error: messageOf(error) }, 'closing the connections of the agent failed');
    }
    options.log.info({}, 'agent stopped; its shares remain until they are released');
  }

  async #handle(request: AgentRequest): Promise<unknown> {
    if (this.#closing !== undefined)
      throw new FrontdoorError('unavailable', 'stopping', 'the agent is stopping');
    switch (request.op) {
      case 'share':
        return await this.#commands.share(request);
      case 'release':
        return await this.#commands.release(request.name);
      case 'status':
        return await this.#status();
      case 'version':
        return this.#version();
      case 'stop':
        // After the answer has left.
        setImmediate(() => void this.close({ drainMs: AGENT_DRAIN_MS }));
        return { stopping: true };
    }
  }

  #version(): AgentVersionResult {
    return { version: this.#parts.options.version, pid: process.pid, environmentId: this.environmentId };
  }

  async #status(): Promise<AgentStatusResult> {
    const { network } = this.#parts;
    if (this.#follower.state === 'connected') {
      try {
        await this.#follower.fetchShares();
      } catch (error) {
        this.#parts.options.log.debug({ error: messageOf(error) }, 'status uses the last known shares');
      }
    }
    return {
      ...this.#version(),
      name: network.environmentName,
      apiUrl: network.apiUrl,
      controlPlane: this.#follower.state,
      problem: this.#follower.problem ?? null,
      startedAt: this.#startedAt,
      shares: this.#table.views(),
      failedEntries: this.#restore?.failed ?? [],
    };
  }
}
