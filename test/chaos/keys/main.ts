/**
 * `frontdoor dev chaos keys`: replaces the intermediate, then the root, while two control planes over one PostgreSQL, a router, a
 * gateway and an agent run as processes, and a control plane is killed at each step. Ten minutes, because control planes
 * read a step within two. The exit status is 1 when a request failed or a step cut someone off.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../support/deadline.ts';
import { postgresSkip } from '../../support/postgres.ts';
import { startPrivateService } from '../../support/private-service.ts';
import { startReplicated, type Replicated } from '../../support/replicated.ts';
import { httpGet } from '../../support/world.ts';

const STEP_MS = 400_000;
const PAUSE_MS = 250;
const HOST = 'app.share.localhost';

interface Rotation {
  readonly rotation?: {
    readonly step: string;
    readonly cutOffCount: number;
    readonly cutOff: { name: string }[];
  };
}

export async function runKeysChaos(): Promise<number> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (postgresSkip !== false) {
    say(`keys: ${postgresSkip}`);
    return 0;
  }
  const service = await startPrivateService();
  const world = await startReplicated();
  const requests = new Requests(world.port);
  try {
    const { credentials, agent } = world;
    const body = {
      environmentId: agent.ready.environmentId,
      name: 'app',
      shareMode: 'public',
      backendMode: 'proxy',
      target: `http://127.0.0.1:${service.port}`,
    };
    const made = await world.call(world.b, 'POST', `/frontdoor/${credentials.frontdoorId}/shares`, { body });
    if (made.status !== 201) throw new Error(made.text);
    await until(
      'the share',
      () => requests.status(),
      (status) => status === 200,
      60_000,
    );
    requests.begin();
    for (const kind of ['intermediate', 'root'] as const) await rotate(world, kind, say);
    await wait(5_000);
  } finally {
    await requests.end();
    await world.stop();
    await service.close();
  }
  for (const failure of requests.failures.slice(0, 10)) say(`  ${failure}`);
  say(
    `${requests.count - requests.failures.length} of ${requests.count} requests, ${requests.failures.length} lost`,
  );
  return requests.failures.length === 0 ? 0 : 1;
}

async function rotate(
  world: Replicated,
  kind: 'root' | 'intermediate',
  say: (line: string) => void,
): Promise<void> {
  const { a, b, folder } = world;
  const startedMs = performance.now();
  const note = (line: string): void =>
    say(`${kind}: ${Math.round((performance.now() - startedMs) / 1_000)} s: ${line}`);
  const state = async (): Promise<Rotation['rotation']> =>
    ((await world.call(b, 'GET', '/authorities')).json as Rotation).rotation;
  const asked = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await world.call(b, 'POST', path, { body });
    if (status !== 200) throw new Error(`${path}: ${text}`);
  };
  const issuers = (): string[] =>
    [
      JSON.parse(readFileSync(join(folder, 'agent', 'identity.json'), 'utf8')).id.cert.slice(4),
      JSON.parse(readFileSync(join(folder, 'gateway', 'identity.json'), 'utf8')).id.cert.slice(4),
      readFileSync(join(folder, 'router', 'cert.pem'), 'utf8'),
    ].map((pem: string) => new X509Certificate(pem).issuer);
  const before = issuers();
  await asked('/authorities/rotation', { kind, afterSeconds: 120 });
  note('begun; one control plane is killed');
  await a.kill();
  await a.start();
  if (kind === 'root') await until('everyone has the root', state, (now) => now?.cutOffCount === 0, STEP_MS);
  note('distributed to everyone');
  await until('it issues', state, (now) => now?.step === 'issuing', STEP_MS);
  await until(
    'all have another issuer',
    issuers,
    (now) => now.every((name, i) => name !== before[i]),
    STEP_MS,
  );
  await until('nobody is cut off', state, (now) => now?.cutOffCount === 0, STEP_MS);
  note('all certificates are of the new authority; a control plane is killed, and the former authority ends');
  await a.kill();
  await asked('/authorities/rotation/next-step', {});
  await a.start();
  await until('it is done', state, (now) => now === undefined, STEP_MS);
  note('done');
}

/** One request after the other, each on a connection of its own. */
class Requests {
  readonly #port: number;
  readonly failures: string[] = [];
  count = 0;
  #isEnding = false;
  #running: Promise<void> | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async status(): Promise<number> {
    return (await httpGet(this.#port, HOST, '/').catch(() => ({ status: 0 }))).status;
  }

  begin(): void {
    this.#running = (async () => {
      while (!this.#isEnding) {
        const status = await this.status();
        this.count += 1;
        if (status !== 200) this.failures.push(`${new Date().toISOString()} ${status}`);
        await wait(PAUSE_MS);
      }
    })();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
  }
}
