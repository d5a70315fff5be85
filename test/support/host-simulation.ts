/**
 * Agents that are lost and come back at random: losses that nobody notices for seconds, resets, restarts of agents, routers
 * and the control plane, terminators that vanish, dials at any moment. The control plane, the routers' edge and the hosting
 * of the SDK are the real ones; channels are in memory, and time is set by hand. The same seed gives the same faults.
 */
import { mock } from 'node:test';
import { OverlayWorld } from '../../src/control/overlay/testing/overlay-world.ts';
import type { Store } from '../../src/control/store/engine/store.ts';
import { SeededRandom } from './seeded-random.ts';
import { SimulatedAgent } from './simulated-agent.ts';
import { SimulatedRouter } from './simulated-router.ts';

const ROUTERS = ['r1', 'r2'];
const AGENTS = ['env1', 'env2', 'env3'];
const TICK_MS = 500;
/** How long either end may take to notice that a channel is lost. */
const UNNOTICED_MS = 8_000;
/** From when an agent is connected, and all that it needs, until each dial of its share succeeds. */
const BOUND_WITHIN_MS = 2_000;
/** From when no router knows a host until the share is shown as failed; its own grace period is 2 s. */
const FAILED_WITHIN_MS = 3_000;
/** From when an agent is connected until its share is shown as deployed: a failed probe is repeated after up to 8 s. */
const DEPLOYED_WITHIN_MS = 12_000;
/** Turns of the event loop in which everything that needs no time is done. */
const TURNS = 10;
/** One of so many ticks checks the dial of a share. */
const CHECK_EACH = 6;

export interface SimulationResult {
  readonly faults: number;
  /** Dials of shares whose agent was connected, all of which have to succeed. */
  readonly checked: number;
  /** Dials at any moment, of which some fail. */
  readonly dials: number;
  readonly problems: readonly string[];
}

type Fault = (simulation: HostSimulation) => Promise<void> | void;

/** The share of each fault is the number of times that it is listed. */
const FAULTS: readonly (readonly [name: string, weight: number, fault: Fault])[] = [
  ['silent loss', 8, (simulation) => simulation.loseSilently()],
  ['reset at the agent', 3, (simulation) => simulation.reset('near')],
  ['reset at the router', 3, (simulation) => simulation.reset('far')],
  ['reset', 2, (simulation) => simulation.reset('both')],
  ['agent restarted', 3, (simulation) => simulation.restartAgent(false)],
  ['agent restarted behind a lost network', 3, (simulation) => simulation.restartAgent(true)],
  ['router restarted', 1, (simulation) => simulation.restartRouter()],
  ['control channel lost', 1, (simulation) => simulation.loseController()],
  ['control plane restarted', 1, (simulation) => simulation.restartControl()],
  ['terminator vanished', 2, (simulation) => simulation.dropTerminator()],
];
const CHOICES = FAULTS.flatMap((fault) => Array.from({ length: fault[1] }, () => fault));

export async function simulateHosts(seed: number, faults: number): Promise<SimulationResult> {
  const simulation = await HostSimulation.start(seed);
  try {
    for (let number = 1; number <= faults; number += 1) {
      const [name, , fault] = simulation.random.pick(CHOICES);
      simulation.at = `fault ${number} of seed ${seed} (${name})`;
      await fault(simulation);
      await simulation.advance(simulation.random.int(4) === 0 ? 14_000 : simulation.random.int(3_000));
    }
    simulation.at = `the end of seed ${seed}`;
    await simulation.advance(2 * UNNOTICED_MS + DEPLOYED_WITHIN_MS);
    return simulation.result(faults);
  } finally {
    await simulation.stop();
  }
}

interface Host {
  readonly environmentId: string;
  readonly serviceId: string;
  agent: SimulatedAgent;
}

class HostSimulation {
  readonly random: SeededRandom;
  /** Where the simulation is, for problems. */
  at = '';
  readonly #world: OverlayWorld;
  readonly #hosts: Host[] = [];
  #routers: SimulatedRouter[] = [];
  readonly #timers: { readonly atMs: number; readonly work: () => Promise<void> | void }[] = [];
  /** By `host router`: since when everything is there that a dial needs. */
  readonly #readySince = new Map<string, number>();
  readonly #problems: string[] = [];
  #nowMs = 0;
  /** Transactions of the store that are not committed yet. */
  #writing = 0;
  #checked = 0;
  #dials = 0;

  private constructor(world: OverlayWorld, random: SeededRandom) {
    this.#world = world;
    this.#countWrites(world.store);
    this.random = random;
  }

  static async start(seed: number): Promise<HostSimulation> {
    const random = new SeededRandom(seed);
    const world = await OverlayWorld.open();
    await world.addIdentity('gw1', 'gateway');
    for (const id of AGENTS) {
      await world.addIdentity(id, 'environment');
      await world.addService(`share-${id}`, id);
    }
    for (const id of ROUTERS) await world.identityOf(id);
    const simulation = new HostSimulation(world, random);
    await simulation.#startControl();
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    for (const id of ROUTERS) simulation.#routers.push(await simulation.#startRouter(id));
    for (const environmentId of AGENTS) {
      const host = { environmentId, serviceId: `share-${environmentId}` };
      simulation.#hosts.push(Object.assign(host, { agent: simulation.#startAgent(host) }));
    }
    await simulation.advance(3_000);
    return simulation;
  }

  /** Lets time pass, starts dials, and checks each share at each tick. */
  async advance(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs <= ms; passedMs += TICK_MS) {
      if (this.random.int(3) === 0) this.#dialAnytime();
      this.#nowMs += TICK_MS;
      const due = this.#timers.filter(({ atMs }) => atMs <= this.#nowMs);
      for (const timer of due) this.#timers.splice(this.#timers.indexOf(timer), 1);
      for (const { work } of due) await work();
      mock.timers.tick(TICK_MS);
      this.#world.advance(TICK_MS);
      await this.#settle();
      await this.#check();
    }
  }

  loseSilently(): void {
    const { agent, router } = this.#some();
    const channel = agent.channelTo(router);
    channel?.cut();
    this.#later(UNNOTICED_MS, () => channel?.near.close('silent'));
    this.#later(UNNOTICED_MS, () => channel?.far.close('silent'));
  }

  /** One end notices at once, the other one after a while. */
  reset(end: 'near' | 'far' | 'both'): void {
    const { agent, router } = this.#some();
    const channel = agent.channelTo(router);
    if (end !== 'both') channel?.cut();
    const [first, second] = end === 'far' ? (['far', 'near'] as const) : (['near', 'far'] as const);
    channel?.[first].close('reset');
    this.#later(UNNOTICED_MS, () => channel?.[second].close('silent'));
  }

  restartAgent(isLost: boolean): void {
    const host = this.random.pick(this.#hosts);
    for (const router of this.#routers) {
      const channel = host.agent.channelTo(router);
      if (isLost) channel?.cut();
      this.#later(UNNOTICED_MS, () => channel?.far.close('silent'));
    }
    host.agent.kill();
    host.agent = this.#startAgent(host);
  }

  restartRouter(): void {
    const router = this.random.pick(this.#routers);
    if (router.isClosed) return;
    router.close();
    this.#later(2_000, async () => {
      const next = await this.#startRouter(router.id);
      this.#routers = this.#routers.map((one) => (one === router ? next : one));
      for (const { agent } of this.#hosts) this.#connectLater(agent, next);
    });
  }

  loseController(): void {
    const router = this.random.pick(this.#routers);
    router.loseController();
    this.#later(2_000, () => router.connect());
  }

  async restartControl(): Promise<void> {
    await this.#world.controller.close();
    await this.#startControl();
    for (const router of this.#routers) this.#later(2_000, () => router.connect());
  }

  /** As a notification of another control plane does that is wrong. */
  async dropTerminator(): Promise<void> {
    const { store } = this.#world;
    const rows = await store.db.selectFrom('terminator').selectAll().orderBy('created_at').execute();
    if (rows.length === 0) return;
    const { id, router_id, share_id } = this.random.pick(rows);
    await store.transaction(async (trx, touch) => {
      await trx.deleteFrom('terminator').where('id', '=', id).execute();
      touch('terminator', id);
    });
    const host = this.#hosts.find(({ serviceId }) => serviceId === share_id);
    if (host !== undefined) this.#readySince.set(`${host.environmentId} ${router_id}`, this.#nowMs);
  }

  #countWrites(store: Store): void {
    const transaction = store.transaction.bind(store);
    store.transaction = async (work) => {
      this.#writing += 1;
      try {
        return await transaction(work);
      } finally {
        this.#writing -= 1;
      }
    };
  }

  /** What needs no time is done, and what is written is stored. */
  async #settle(): Promise<void> {
    do await turns(TURNS);
    while (this.#writing > 0);
  }

  result(faults: number): SimulationResult {
    return { faults, checked: this.#checked, dials: this.#dials, problems: this.#problems };
  }

  async stop(): Promise<void> {
    for (const { agent } of this.#hosts) agent.kill();
    for (const router of this.#routers) router.close();
    await turns(TURNS);
    mock.timers.reset();
    await this.#world.close();
  }

  async #startControl(): Promise<void> {
    await this.#world.start({ tuning: { random: () => this.random.int(1_000_000) / 1_000_000 } });
  }

  async #startRouter(id: string): Promise<SimulatedRouter> {
    const router = new SimulatedRouter(id, this.#world);
    await router.connect();
    return router;
  }

  #startAgent({ environmentId, serviceId }: Omit<Host, 'agent'>): SimulatedAgent {
    const agent: SimulatedAgent = new SimulatedAgent({
      environmentId,
      serviceId,
      onLost: ({ id }) => {
        const router = this.#routers.find((one) => one.id === id);
        if (router !== undefined) this.#connectLater(agent, router);
      },
    });
    for (const router of this.#routers) this.#connectLater(agent, router);
    return agent;
  }

  #connectLater(agent: SimulatedAgent, router: SimulatedRouter): void {
    this.#later(1_500, () => {
      if (router.isClosed) return;
      agent.connect(router);
    });
  }

  #later(withinMs: number, work: () => Promise<void> | void): void {
    this.#timers.push({ atMs: this.#nowMs + this.random.int(withinMs), work });
  }

  #some(): { readonly agent: SimulatedAgent; readonly router: SimulatedRouter } {
    return { agent: this.random.pick(this.#hosts).agent, router: this.random.pick(this.#routers) };
  }

  #dialAnytime(): void {
    this.#dials += 1;
    void this.random.pick(this.#routers).dial('gw1', this.random.pick(this.#hosts).serviceId);
  }

  async #check(): Promise<void> {
    for (const host of this.#hosts) {
      for (const router of this.#routers) await this.#checkDial(host, router);
      this.#checkStatus(host);
    }
  }

  async #checkDial({ environmentId, serviceId, agent }: Host, router: SimulatedRouter): Promise<void> {
    const key = `${environmentId} ${router.id}`;
    const isReady = router.isConnected && agent.channelTo(router)?.isWhole === true;
    if (!isReady) this.#readySince.delete(key);
    else if (!this.#readySince.has(key)) this.#readySince.set(key, this.#nowMs);
    const sinceMs = this.#readySince.get(key);
    if (sinceMs === undefined || this.#nowMs - sinceMs < BOUND_WITHIN_MS) return;
    if (this.random.int(CHECK_EACH) > 0) return;
    this.#checked += 1;
    let outcome: string | undefined = 'no answer at once';
    void router.dial('gw1', serviceId).then((refusal) => (outcome = refusal));
    for (let turn = 0; turn < TURNS && outcome !== undefined; turn += 1) await turns(1);
    if (outcome === undefined) return;
    this.#problem(`${key} is connected for ${this.#nowMs - sinceMs} ms, and a dial failed: ${outcome}`);
    // One report for each mistake.
    this.#readySince.set(key, this.#nowMs + UNNOTICED_MS);
  }

  #checkStatus({ environmentId, serviceId }: Host): void {
    const sinceMs = ROUTERS.flatMap((id) => this.#readySince.get(`${environmentId} ${id}`) ?? []);
    const { state, failure } = this.#world.controller.status.service(serviceId);
    // A channel that is lost makes dials fail until that is noticed, also if there is another one.
    const isWhole = sinceMs.length === ROUTERS.length;
    if (isWhole && this.#nowMs - Math.max(...sinceMs) > DEPLOYED_WITHIN_MS && state !== 'DEPLOYED')
      this.#problem(`${serviceId} is ${state} (${failure?.lastError}) although its agent is connected`);
    const awayKey = `${environmentId} away`;
    const isHosted = this.#routers.some((router) => router.hosts(environmentId));
    if (isHosted) this.#readySince.delete(awayKey);
    else if (!this.#readySince.has(awayKey)) this.#readySince.set(awayKey, this.#nowMs);
    const awayMs = this.#nowMs - (this.#readySince.get(awayKey) ?? this.#nowMs);
    if (awayMs > FAILED_WITHIN_MS && state === 'DEPLOYED')
      this.#problem(`${serviceId} is DEPLOYED ${awayMs} ms after its last host has gone`);
  }

  #problem(text: string): void {
    this.#problems.push(`${this.at}: ${text}`);
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
