/**
 * Agents as processes that lose their connection to the router at random, while visitors make new circuits to their
 * shares: connections that a translator of addresses forgets, with and without a reset, and networks that are away for
 * seconds. From two seconds after an agent hosts its share again, each request has to be answered.
 */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentShareView, type AgentStatusResult } from '#domain';
import { ForgottenFlows } from '../../support/forgotten-flows.ts';
import { LogWatch } from '../../support/log-watch.ts';
import { PartProcess } from '../../support/part-process.ts';
import { localPortsTo } from '../../support/process-faults.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { startSeparate, type Separate } from '../../support/separate.ts';
import { Turns } from '../../support/undisturbed.ts';

/** From when the agent hosts its share until each request is answered. */
const BOUND_WITHIN_MS = 2_000;
/** How long requests are watched after that: longer than the router needs to notice a lost channel, which is 8 s. */
const WATCHED_MS = 9_000;
const BACK_WITHIN_MS = 45_000;
const REQUEST_EACH_MS = 400;
const REQUEST_MS = 20_000;
const MAX_AWAY_MS = 9_000;
/** After this time both ends have noticed that a connection is lost. */
const NOTICED_MS = 20_000;
const CHANNEL_LOST = 'channel to router closed';
const KINDS = ['silent', 'resetting', 'away'] as const;

export interface LossesOptions {
  readonly losses: number;
  readonly agents: number;
  readonly random: SeededRandom;
  say(line: string): void;
}

export interface LossesResult {
  readonly good: number;
  readonly losses: number;
  readonly problems: readonly string[];
  /** Requests from each loss on, by its kind, also those before the share had to answer. */
  readonly requests: Readonly<Record<string, { count: number; failed: number }>>;
}

interface LossyAgent {
  readonly name: string;
  readonly part: PartProcess<AgentStatusResult>;
  readonly host: string;
}

export async function loseAgents(options: LossesOptions): Promise<LossesResult> {
  const origin = createServer((_incoming, answer) => answer.setHeader('connection', 'close').end('here'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const parts = await startSeparate();
  const flows = new ForgottenFlows(parts.router.ready.edgePort);
  const agents: LossyAgent[] = [];
  try {
    for (let number = 1; number <= options.agents; number += 1)
      agents.push(await startAgent(parts, origin, `lossy-${number}`));
    return await new Losses(parts, flows, options).run(agents);
  } finally {
    flows.close();
    await Promise.all(agents.map(({ part }) => part.kill()));
    await parts.stop();
    origin.close();
  }
}

class Losses {
  readonly #parts: Separate;
  readonly #flows: ForgottenFlows;
  readonly #options: LossesOptions;
  readonly #problems: string[] = [];
  readonly #requests: Record<string, { count: number; failed: number }> = {};
  #begun = 0;
  #ended = 0;
  #repeated = 0;
  #good = 0;
  #unreachableCount = 0;

  constructor(parts: Separate, flows: ForgottenFlows, options: LossesOptions) {
    this.#parts = parts;
    this.#flows = flows;
    this.#options = options;
  }

  async run(agents: readonly LossyAgent[]): Promise<LossesResult> {
    await Promise.all(agents.map((agent) => this.#loseAgain(agent)));
    const requests = this.#requests;
    return { good: this.#good, losses: this.#ended, problems: this.#problems, requests };
  }

  async #loseAgain(agent: LossyAgent): Promise<void> {
    const { losses, random, say } = this.#options;
    while (this.#begun < losses) {
      this.#begun += 1;
      const number = this.#begun;
      const kind = random.pick(KINDS);
      const gateway = new LogWatch(this.#parts.gateway);
      const problem = await this.#lose(agent, kind);
      gateway.close();
      // A machine that stands still takes the gateway's own channel, too, which says nothing about the agent.
      if (problem !== undefined && gateway.count(CHANNEL_LOST) > 0 && this.#repeated < losses) {
        this.#repeated += 1;
        this.#begun -= 1;
        say(`    loss ${number} of ${agent.name} is repeated, the gateway lost its channel: ${problem}`);
        continue;
      }
      this.#ended += 1;
      if (problem === undefined) this.#good += 1;
      else {
        this.#problems.push(`loss ${number} of ${agent.name} (${kind}): ${problem}`);
        say(`    ${this.#problems.at(-1)}`);
      }
      if (this.#ended % 50 === 0) say(`  ${this.#good} of ${this.#ended} losses`);
    }
  }

  /** Returns what went wrong. */
  async #lose({ part, host }: LossyAgent, kind: (typeof KINDS)[number]): Promise<string | undefined> {
    const { random } = this.#options;
    const log = new LogWatch(part);
    const visitors = new Visitors(Number(this.#parts.port), host);
    using turns = new Turns();
    try {
      await pause(random.int(1_500));
      const ports = localPortsTo(part, this.#parts.router.ready.edgePort);
      const how = kind === 'resetting' ? kind : 'silent';
      this.#flows.forget(ports, how);
      setTimeout(() => this.#flows.release(ports, how), NOTICED_MS + MAX_AWAY_MS).unref();
      if (kind === 'away') await this.#unreachableFor(random.int(MAX_AWAY_MS));
      const { atMs } = await log.first('share is hosted', BACK_WITHIN_MS);
      const sinceMs = performance.now() - (Date.now() - atMs) + BOUND_WITHIN_MS;
      await pause(BOUND_WITHIN_MS + WATCHED_MS);
      const failure = await visitors.firstFailure(sinceMs);
      const stood = `this machine stood still for ${Math.round(turns.latestMs)} ms`;
      return failure === undefined ? undefined : `${failure} (${stood})`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      log.close();
      await visitors.stop();
      const sum = (this.#requests[kind] ??= { count: 0, failed: 0 });
      sum.count += visitors.count;
      sum.failed += visitors.failed;
    }
  }

  /** Networks of several agents may be away at once. */
  async #unreachableFor(ms: number): Promise<void> {
    if ((this.#unreachableCount += 1) === 1) this.#flows.setReachable(false);
    await pause(ms);
    if ((this.#unreachableCount -= 1) === 0) this.#flows.setReachable(true);
  }
}

/** Requests at a fixed rate, each of which needs a new circuit. */
class Visitors {
  readonly #port: number;
  readonly #host: string;
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<Promise<void>>();
  readonly #failures: { readonly atMs: number; readonly reason: string }[] = [];
  count = 0;

  constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
    this.#timer = setInterval(() => this.#send(), REQUEST_EACH_MS);
  }

  get failed(): number {
    return this.#failures.length;
  }

  /** Returns what happened to requests that began at or after `sinceMs` of `performance.now()`, if any failed. */
  async firstFailure(sinceMs: number): Promise<string | undefined> {
    await this.stop();
    const failed = this.#failures.filter(({ atMs }) => atMs >= sinceMs);
    const [first] = failed;
    if (first === undefined) return undefined;
    return `${failed.length} requests failed, the first ${Math.round(first.atMs - sinceMs)} ms after the share had to answer: ${first.reason}`;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  #send(): void {
    this.count += 1;
    const sent = this.#ask().finally(() => this.#open.delete(sent));
    this.#open.add(sent);
  }

  async #ask(): Promise<void> {
    const atMs = performance.now();
    const reason = await new Promise<string | undefined>((resolve) => {
      const headers = { host: this.#host, accept: 'application/json' };
      const asked = request({ host: '127.0.0.1', port: this.#port, headers, agent: false });
      asked.setTimeout(REQUEST_MS, () => asked.destroy(new Error('no answer in time')));
      asked.on('error', (error) => resolve(error.message));
      asked.on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('error', (error) => resolve(error.message));
        answer.on('end', () =>
          resolve(answer.statusCode === 200 ? undefined : `${answer.statusCode} ${text.slice(0, 200)}`),
        );
      });
      asked.end();
    });
    if (reason !== undefined) this.#failures.push({ atMs, reason });
  }
}

async function startAgent(parts: Separate, origin: Server, name: string): Promise<LossyAgent> {
  const { json } = await parts.call('POST', '/agents/enrollments');
  const { enrollmentCode } = json as { enrollmentCode: string };
  const dataDir = join(parts.folder, name);
  const socket = join(dataDir, AGENT_SOCKET_FILE);
  const part = new PartProcess<AgentStatusResult>({
    name,
    probe: () => callAgent(socket, { op: 'status' }, 1_000),
    args: () => [
      ...['agent', 'start', '--data-dir', dataDir, '--api', parts.control.ready.apiUrl],
      ...['--ca', join(parts.folder, 'api-ca.pem'), '--name', name, '--enrollment-token', enrollmentCode],
    ],
  });
  await part.start();
  const target = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const text = await parts.run(
    ...['agent', 'share', 'public', target, '--name', name, '--socket', socket, '--json'],
  );
  const { endpoints } = JSON.parse(text) as AgentShareView;
  return { name, part, host: new URL(endpoints[0]!).hostname };
}
