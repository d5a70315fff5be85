/**
 * Agents as processes that lose their connection to the router at random, while visitors make new circuits to their
 * shares: connections that a translator of addresses forgets, with and without a reset, and networks that are away for
 * seconds. From two seconds after an agent hosts its share again, each request has to be answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ForgottenFlows } from '../../support/forgotten-flows.ts';
import { LogWatch } from '../../support/log-watch.ts';
import { localPortsTo } from '../../support/process-faults.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Separate } from '../../support/separate.ts';
import { Turns } from '../../support/undisturbed.ts';
import { withLossyAgents, type LossyAgent } from './lossy-agents.ts';
import { Visitors } from './visitors.ts';

/** From when the agent hosts its share until each request is answered. */
const BOUND_WITHIN_MS = 2_000;
/** How long requests are watched after that: longer than the router needs to notice a lost channel, which is 8 s. */
const WATCHED_MS = 9_000;
const BACK_WITHIN_MS = 45_000;
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

export function loseAgents(options: LossesOptions): Promise<LossesResult> {
  return withLossyAgents(options.agents, ({ parts, flows, agents }) =>
    new Losses(parts, flows, options).run(agents),
  );
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
  /** How often the network has gone away, which all agents share. */
  #outages = 0;

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
    let outages = 0;
    try {
      await pause(random.int(1_500));
      outages = this.#outages - this.#unreachableCount;
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
      // A loss during an outage for another agent's sake is one of that kind, too.
      const sum = (this.#requests[this.#outages > outages ? 'away' : kind] ??= { count: 0, failed: 0 });
      sum.count += visitors.count;
      sum.failed += visitors.failed;
    }
  }

  /** Networks of several agents may be away at once. */
  async #unreachableFor(ms: number): Promise<void> {
    this.#outages += 1;
    if ((this.#unreachableCount += 1) === 1) this.#flows.setReachable(false);
    await pause(ms);
    if ((this.#unreachableCount -= 1) === 0) this.#flows.setReachable(true);
  }
}
