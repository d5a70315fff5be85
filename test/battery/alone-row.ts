/**
 * L11: one record never ends its process. Shares whose target's name does not resolve, of each scheme, by the agent's command and
 * through the Management API, also across a restart; then an exception at each place where a part handles one of many things. All
 * processes stay, others are served, and the log names what failed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callAgent } from '#cli';
import type { AgentResults } from '#domain/agent-shapes';
import { POISONED, FAULT_PLACES, type FaultPlace } from '../support/fault-place-table.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { httpGet } from '../support/world.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';

const PRELOAD = join(import.meta.dirname, '../support/planted-faults.ts');
const NOWHERE = 'no-such-host.invalid:8080';
const GOOD = 'good';
/** Time for a place to be reached, by requests, ticks, heartbeats and refreshes. */
const REACHED_MS = 40_000;
const SERVED_MS = 10_000;
/** Long enough for several health checks and polls. */
const SETTLE_MS = 3_000;
const LOOK_MS = 100;

export const ALONE_ROW: BatteryRow = {
  id: 'L11',
  title: 'one share, record or exception never ends its process',
  hasOwnProduct: true,
  run: async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-alone-'));
    const faults = join(folder, 'faults');
    const service = createServer((_request, response) => void response.end('here')).listen(0, '127.0.0.1');
    await once(service, 'listening');
    try {
      const parts = await startSeparate({
        nodeArgs: ['--import', PRELOAD],
        env: { FRONTDOOR_TEST_FAULTS: faults, FRONTDOOR_FROM_SOURCES: '1' },
        agentArgs: ['--allow-target', '0.0.0.0/0:*'],
      });
      try {
        const { port } = service.address() as AddressInfo;
        return await new AloneCheck(context, parts, faults).run(`http://127.0.0.1:${port}`);
      } finally {
        await parts.stop();
      }
    } finally {
      service.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Tunnels are in `test/e2e/tunnel-command.test.ts`. */
type PartPlace = FaultPlace & { readonly part: Exclude<FaultPlace['part'], 'tunnel'> };

function isOfParts(place: FaultPlace): place is PartPlace {
  return place.part !== 'tunnel';
}

class AloneCheck {
  readonly #context: BatteryRowContext;
  readonly #parts: Separate;
  readonly #faults: string;
  readonly #tally = new Tally();

  constructor(context: BatteryRowContext, parts: Separate, faults: string) {
    this.#context = context;
    this.#parts = parts;
    this.#faults = faults;
  }

  async run(target: string): Promise<Tally> {
    const parts = this.#parts;
    await parts.share('public', target, GOOD);
    await this.#isServed('at the start');
    await this.#badNames();
    // A share that a fault ends stays beside the good one.
    await this.#shareAnyway('public', target, POISONED);
    for (const place of FAULT_PLACES.filter(isOfParts)) {
      await this.#throwAt(place);
      this.#context.progress(`${place.name} has thrown`);
    }
    return this.#tally;
  }

  async #badNames(): Promise<void> {
    const parts = this.#parts;
    const schemes = [
      ['public', 'http'],
      ['public', 'https'],
      ['private', 'tcp'],
      ['private', 'udp'],
    ] as const;
    for (const [mode, scheme] of schemes) {
      await this.#shareAnyway(mode, `${scheme}://${NOWHERE}`, `bad${scheme}`);
      await this.#stands(`beside a share of ${scheme} without a name`);
    }
    const environments = await parts.call('GET', '/environments');
    const [environment] = (environments.json as { content: { id: string }[] }).content;
    const made = await parts.call('POST', '/shares', {
      environmentId: environment?.id,
      name: 'badapi',
      shareMode: 'public',
      backendMode: 'proxy',
      target: `http://${NOWHERE}`,
    });
    this.#tally.check(made.status === 201, 'the API makes a share', () => JSON.stringify(made.json));
    await this.#stands('beside a share that the API made');
    const { shares } = await this.#status();
    for (const name of ['badhttp', 'badhttps', 'badtcp', 'badudp']) {
      const problem = shares.find(({ token }) => token === name)?.problem ?? '';
      this.#tally.check(/does not resolve/.test(problem), `status explains ${name}`, () => problem);
    }
    const answer = await httpGet(parts.port, 'badhttp.share.localhost', '/');
    this.#tally.check([502, 503].includes(answer.status), 'its own requests fail', () => `${answer.status}`);
    await parts.agent.stop();
    await parts.agent.start();
    await this.#stands('after a restart with the bad shares');
    const released = await callAgent(parts.agentSocket, { op: 'release', name: 'badhttp' }, SERVED_MS).then(
      () => '',
      (error: unknown) => String(error),
    );
    this.#tally.check(released === '', 'a bad share can be released', () => released);
    await this.#stands('after the release');
  }

  /** The command waits until the share can be dialed, and reports that it cannot be. */
  async #shareAnyway(mode: 'public' | 'private', target: string, name: string): Promise<void> {
    await callAgent(this.#parts.agentSocket, { op: 'share', mode, target, name, grants: [] }, 20_000).catch(
      () => undefined,
    );
  }

  /** Its record goes through all parts again. */
  async #makeAgain(name: string): Promise<void> {
    await callAgent(this.#parts.agentSocket, { op: 'release', name }, SERVED_MS).catch(() => undefined);
    await this.#shareAnyway('public', 'http://127.0.0.1:9', name);
  }

  async #throwAt({ name, part, only }: PartPlace): Promise<void> {
    const process = this.#parts[part];
    let [hasThrown, isLogged] = [false, false];
    const unwatch = process.watch((line) => {
      hasThrown ||= line.includes(`planted ${name}`);
      isLogged ||= line.includes(`planted at ${name}`) && line.includes('defect: this one thing ends');
    });
    writeFileSync(this.#faults, `${name} ${only === undefined ? 1 : Number.MAX_SAFE_INTEGER}`);
    if (only !== undefined) await this.#makeAgain(POISONED);
    const sinceMs = performance.now();
    while (!hasThrown && performance.now() - sinceMs < REACHED_MS) await this.#get();
    this.#tally.check(hasThrown, `${name} is reached`);
    if (only !== undefined) await this.#stands(`while ${name} throws`);
    writeFileSync(this.#faults, '');
    await this.#stands(`after ${name}`);
    unwatch();
    this.#tally.check(!hasThrown || isLogged, `${name} is logged with what it ended`);
  }

  async #get(): Promise<number> {
    const status = await httpGet(this.#parts.port, `${GOOD}.share.localhost`, '/').then(
      (answer) => answer.status,
      () => 0,
    );
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    return status;
  }

  async #isServed(when: string): Promise<void> {
    const sinceMs = performance.now();
    let status = await this.#get();
    while (status !== 200 && performance.now() - sinceMs < SERVED_MS) status = await this.#get();
    this.#tally.check(status === 200, `${GOOD} is served ${when}`, () => `${status}`);
  }

  async #stands(when: string): Promise<void> {
    const { agent, gateway, router, control } = this.#parts;
    await this.#isServed(when);
    for (const part of [agent, gateway, router, control])
      this.#tally.check(part.isRunning, `the ${part.name} runs ${when}`, () => part.output.slice(-500));
  }

  /** After some health checks. */
  async #status(): Promise<AgentResults['status']> {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return callAgent(this.#parts.agentSocket, { op: 'status' }, SERVED_MS);
  }
}
