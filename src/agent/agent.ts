/**
 * The agent program: one process beside private services, which enrolls, hosts shares and serves its control
 * socket. Its data directory contains the identity and the list of own targets, guarded by a lock file. Stopping
 * it never releases a share: shares remain until they are released by name or through the Management API.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAllowedNetworks } from '#domain';
import {
  AGENT_SOCKET_FILE,
  checkSocketPath,
  type AgentRequest,
  type AgentStatusResult,
  type AgentVersionResult,
} from '#domain/agent-shapes';
import { FrontdoorError, type Log, messageOf } from '#base';
import type { MetricsWriter } from '#net/metrics';
import { acquireAgentLock, type AgentLock } from './agent-lock.ts';
import { writeAgentMetrics } from './agent-metrics.ts';
import type { BackendParts } from './backends/backend.ts';
import { AccessRegistry } from './access/access-registry.ts';
import type { AgentNetwork } from './agent-network.ts';
import type { AgentConfig } from '#contract/schemas';
import { AgentFile, readAgentFile, type AgentFilePlace } from './agent-file.ts';
import { DatagramDialer } from './backends/datagram-target.ts';
import { openControlSocket, type ControlSocket } from './control-socket.ts';
import { OwnTargets } from './own-targets.ts';
import { ShareCommands } from './share-commands.ts';
import { ShareFollower } from './share-follower.ts';
import { ShareRegistry } from './share-registry.ts';
import { TargetHealthMonitor, type TargetHealthOptions } from './backends/target-health.ts';
import { TargetResolver } from './backends/target-resolver.ts';
import type { TargetClient } from './backends/target-certificate.ts';

/** As many as a gateway has connections, so that many slow clients of one share do not block it for others. */
const MAX_CIRCUITS_PER_SHARE = 16_384;

export interface AgentOptions {
  /** Created if absent. One agent at a time uses it. */
  readonly dataDir: string;
  /** Default: `agent.sock` in the data directory. */
  readonly socketPath?: string | undefined;
  /** Targets that the Management API may set, as `CIDR:PORTS`, or absolute paths of folders. */
  readonly allowTargets: readonly string[];
  readonly configFile?: AgentFilePlace | undefined;
  readonly version: string;
  readonly log: Log;
  /** Enrolls if necessary and connects. Called once, while the lock is held. */
  readonly openNetwork: () => Promise<AgentNetwork>;
  /** Gives back what the next agent on the directory opens, such as a port. Awaited before the lock is released. */
  readonly beforeRelease?: () => Promise<void>;
  /** CA certificates (PEM) to verify https targets with; by default the system's. */
  readonly targetCa?: string | undefined;
  /** Presented to https targets of this agent's operator. */
  readonly targetClients?: ReadonlyMap<string, TargetClient> | undefined;
  readonly maxCircuitsPerShare?: number | undefined;
  readonly timing?: AgentTiming;
}

/** In milliseconds; for tests. */
export interface AgentTiming {
  readonly pollMs?: number;
  readonly refreshMs?: number;
  readonly retargetGraceMs?: number;
  readonly readyTimeoutMs?: number;
  readonly settleMs?: number;
  readonly lockCheckMs?: number;
  readonly drainQuietMs?: number;
  readonly retryMs?: number;
  readonly health?: TargetHealthOptions & { readonly closeTimeoutMs?: number };
}

export interface Agent {
  readonly environmentId: string;
  readonly socketPath: string;
  /** Resolves once everything is closed; `lost` if another process took over the data directory. */
  readonly closed: Promise<{ readonly reason: 'asked' | 'lost' }>;
  /** For Prometheus. */
  readonly writeMetrics: MetricsWriter;
  /**
   * Reads the configuration file again, if there is one, and creates or reclaims its shares and accesses. Rejects with
   * its problems.
   */
  reload(): Promise<void>;
  /**
   * Releases the data directory for the next agent, lets circuits end for up to `drainMs`, then closes. Shares
   * without another host are served in the meantime. A second call with less time shortens the drain.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

export const AGENT_DRAIN_MS = 30_000;
const OWN_TARGETS_FILE = 'agent-shares.json';
const ACCESSES_FILE = 'agent-accesses.json';

/** Throws `FrontdoorError` if the agent cannot start. Once enrolled, it starts without a control plane. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { dataDir, version, log } = options;
  const socketPath = options.socketPath ?? join(dataDir, AGENT_SOCKET_FILE);
  const problem = checkSocketPath(socketPath, process.platform);
  if (problem !== undefined) throw new FrontdoorError('invalid', 'socket-path', problem);
  const allowed = parseAllowTargets(options.allowTargets);
  const config = await readAgentFile(options.configFile);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = acquireAgentLock(dataDir, socketPath, version);
  let network: AgentNetwork | undefined;
  try {
    network = await options.openNetwork();
    const own = OwnTargets.load(join(dataDir, OWN_TARGETS_FILE), log);
    const agent = new RunningAgent({ options, lock, network, own, allowed, socketPath });
    await agent.start(config);
    return agent;
  } catch (error) {
    await network?.close();
    lock.release();
    throw error;
  }
}

/** Reports all problems in one error. */
export function parseAllowTargets(texts: readonly string[]): AllowedTargets {
  const isFolder = (text: string): boolean => text.startsWith('/');
  return {
    allowTargets: parseAllowedNetworks(
      '--allow-target',
      texts.filter((text) => !isFolder(text)),
    ),
    allowFolders: texts.filter(isFolder).map((folder) => resolve(folder)),
  };
}

type AllowedTargets = Pick<BackendParts, 'allowTargets' | 'allowFolders'>;

interface Parts {
  readonly options: AgentOptions;
  readonly lock: AgentLock;
  readonly network: AgentNetwork;
  readonly own: OwnTargets;
  readonly allowed: AllowedTargets;
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
  readonly #accesses: AccessRegistry;
  readonly #file: AgentFile;
  readonly #cutDrain = new AbortController();
  readonly #resolveClosed: (how: { readonly reason: 'asked' | 'lost' }) => void;
  #socket: ControlSocket | undefined;
  #lockTimer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    const { options, network, own, allowed } = parts;
    const { log, version, timing = {} } = options;
    this.#parts = parts;
    this.environmentId = network.environmentId;
    this.socketPath = parts.socketPath;
    const { promise, resolve } = Promise.withResolvers<{ readonly reason: 'asked' | 'lost' }>();
    this.closed = promise;
    this.#resolveClosed = resolve;
    this.#health = new TargetHealthMonitor(timing.health);
    this.#table = new ShareRegistry({
      host: network.host,
      health: this.#health,
      backends: {
        resolver: new TargetResolver(),
        datagrams: new DatagramDialer(),
        ...allowed,
        dataDir: options.dataDir,
        log,
        targetCa: options.targetCa,
        targetClients: options.targetClients,
        times: {
          checkTimeoutMs: 3_000,
          closeTimeoutMs: timing.health?.closeTimeoutMs ?? 4_000,
        },
      },
      own,
      log,
      maxCircuitsPerShare: options.maxCircuitsPerShare ?? MAX_CIRCUITS_PER_SHARE,
      retargetGraceMs: timing.retargetGraceMs ?? 5_000,
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
    this.#accesses = new AccessRegistry({
      path: join(options.dataDir, ACCESSES_FILE),
      dial: (share, timeoutMs, protocol) => network.dial(share, timeoutMs, protocol),
      log,
      retryMs: timing.retryMs,
    });
    this.#file = new AgentFile({
      configFile: options.configFile,
      dataDir: options.dataDir,
      commands: this.#commands,
      follower: this.#follower,
      table: this.#table,
      accesses: this.#accesses,
      own,
      log,
      retryMs: timing.retryMs,
    });
  }

  async start(config: AgentConfig | undefined): Promise<void> {
    const { options, lock, network } = this.#parts;
    const { log, timing = {} } = options;
    this.#socket = await openControlSocket({
      path: this.socketPath,
      log,
      handle: (request) => this.#handle(request),
    });
    this.#file.prepare(config);
    await this.#follower.start();
    await this.#accesses.restore();
    await this.#file.apply(config);
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
    await this.#file.reload(() => this.#closing !== undefined);
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
    this.#resolveClosed({ reason });
  }

  async #closeParts(drainMs: number): Promise<void> {
    const { network, lock, options } = this.#parts;
    clearInterval(this.#lockTimer);
    this.#file.stop();
    this.#follower.stop();
    await this.#socket?.close(1_000);
    await options.beforeRelease?.();
    // From here on another process may take the directory, and with it the shares.
    lock.release();
    await Promise.all([
      this.#table.drain(drainMs, options.timing?.drainQuietMs ?? 2_000, this.#cutDrain.signal),
      this.#accesses.drain(drainMs, this.#cutDrain.signal),
    ]);
    this.#accesses.close();
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
        if (request.name !== undefined) this.#file.leaveToCommand(request.name);
        return await this.#commands.share(request);
      case 'release':
        return await this.#commands.release(request.name);
      case 'status':
        return await this.#status();
      case 'version':
        return this.#version();
      case 'access':
        return await this.#accesses.open({
          share: request.share,
          host: request.host,
          port: request.port,
          protocol: request.protocol,
        });
      case 'endAccess':
        return this.#accesses.end(request.share);
      case 'stop':
        // After the response has been sent.
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
      proxy: network.proxy ?? null,
      clockProblem: network.clockProblem ?? null,
      controlPlane: this.#follower.state,
      problem: this.#follower.problem ?? null,
      startedAt: this.#startedAt,
      shares: this.#table.views(),
      accesses: this.#accesses.views(),
      failedEntries: this.#file.failed,
      fileProblem: this.#file.problem,
    };
  }
}
