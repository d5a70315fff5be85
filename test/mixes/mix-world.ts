/**
 * Every part as a process of its own, each of one of two versions; a restart on the same files changes it. In each mix, shares are
 * used, made and released by the command lines and libraries of both versions.
 */
import { writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo, Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { until } from '../support/deadline.ts';
import { startEcho } from '../support/echo-service.ts';
import { runCommand, type PartProcess } from '../support/part-process.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { runLibrary } from './library-run.ts';
import type { ProgramSource } from './program-source.ts';

/** In the order of an upgrade. */
export const PARTS = ['control', 'router', 'gateway', 'agent'] as const;
export type Part = (typeof PARTS)[number];
export type Side = 'old' | 'new';
export type Sides = Readonly<Record<Part, Side>>;
export type MixSources = Readonly<Record<Side, ProgramSource>>;
const SIDES: readonly Side[] = ['old', 'new'];

const BODY_BYTES = 1_000_000;
const SETTLE_MS = 60_000;

export class MixWorld {
  readonly #sources: MixSources;
  #sides: Sides = { control: 'old', router: 'old', gateway: 'old', agent: 'old' };
  #separate!: Separate;
  readonly #service: Server;
  #echo!: TcpServer;
  #count = 0;

  private constructor(sources: MixSources) {
    this.#sources = sources;
    this.#service = createServer((incoming, answer) => {
      answer.setHeader('x-method', incoming.method ?? '');
      incoming.pipe(answer);
    });
  }

  /** Everything is of the old version then. */
  static async start(sources: MixSources): Promise<MixWorld> {
    const world = new MixWorld(sources);
    await new Promise<void>((resolve) => world.#service.listen(0, '127.0.0.1', resolve));
    world.#echo = await startEcho();
    world.#separate = await startSeparate({
      programOf: (part) => sources[world.#sides[part]],
      command: (args, env) => runCommand(args, env, sources.old),
    });
    const { port } = world.#service.address() as AddressInfo;
    await world.#separate.share('public', `http://127.0.0.1:${port}`, 'kept');
    const grants: string[] = [];
    for (const side of SIDES) grants.push(await world.#enroll(side));
    const target = `tcp://127.0.0.1:${(world.#echo.address() as AddressInfo).port}`;
    await world.#agentCommand(
      'old',
      ...['share', 'private', target, '--name', 'echo', ...grants.flatMap((id) => ['--grant', id])],
    );
    return world;
  }

  /** Restarts the parts that are of another version. */
  async become(sides: Sides): Promise<void> {
    for (const part of PARTS) {
      if (sides[part] === this.#sides[part]) continue;
      const process = this.#processOf(part);
      await process.stop('SIGTERM', 60_000);
      this.#sides = { ...this.#sides, [part]: sides[part] };
      await process.start();
    }
  }

  /** Rejects with what does not work. */
  async check(): Promise<void> {
    await until(
      'the share',
      () => this.#send('kept', 'GET'),
      ({ status }) => status === 200,
      SETTLE_MS,
    );
    const body = Buffer.alloc(BODY_BYTES, 'mixed versions ');
    const sent = await this.#send('kept', 'POST', body);
    if (sent.status !== 200 || !sent.body.equals(body))
      throw new Error(`a body came back with ${sent.status}`);
    for (const side of SIDES) await this.#checkCommands(side);
    for (const side of SIDES) await this.#checkLibrary(side);
  }

  async stop(): Promise<void> {
    this.#service.closeAllConnections();
    this.#service.close();
    this.#echo?.close();
    await this.#separate?.stop();
  }

  get output(): string {
    return PARTS.map((part) => `--- ${part}\n${this.#processOf(part).output.slice(-3_000)}`).join('\n');
  }

  /** The command line of one version with whatever the parts are. */
  async #checkCommands(side: Side): Promise<void> {
    const listed = await this.#run(side, 'shares', 'list', '--json');
    for (const name of ['kept', 'echo'])
      if (!listed.includes(`"${name}"`)) throw new Error(`${name} is not listed`);
    await this.#run(side, 'fabric', 'routers', '--json');
    await this.#agentCommand(side, 'status', '--json');
    this.#count += 1;
    const name = `made-${this.#count}`;
    const { port } = this.#service.address() as AddressInfo;
    await this.#agentCommand(side, 'share', 'public', `http://127.0.0.1:${port}`, '--name', name);
    await this.#untilStatus(name, 200);
    await this.#run(side, 'shares', 'policy', 'change', name, '--add-ip-deny', '127.0.0.1/32');
    await this.#untilStatus(name, 403);
    await this.#agentCommand(side, 'release', name);
    await this.#untilStatus(name, 404);
  }

  async #checkLibrary(side: Side): Promise<void> {
    const message = `from ${side}`;
    const identity = this.#file(`${side}.json`);
    const came = await runLibrary(this.#sources[side], 'dial', identity, 'echo', message);
    if (came !== message) throw new Error(`the library received "${came}"`);
  }

  async #enroll(side: Side): Promise<string> {
    const token = this.#file(`${side}.jwt`);
    writeFileSync(token, await this.#separate.enrollmentJwt(), { mode: 0o600 });
    return runLibrary(this.#sources[side], 'enroll', token, this.#file(`${side}.json`));
  }

  #run(side: Side, ...args: string[]): Promise<string> {
    const { credentials, frontdoorId } = this.#separate;
    const env = { ...credentials, FRONTDOOR_ID: frontdoorId };
    return runCommand([...args, '--ca', this.#file('api-ca.pem')], env, this.#sources[side]);
  }

  #agentCommand(side: Side, ...args: string[]): Promise<string> {
    return runCommand(
      ['agent', ...args, '--socket', this.#separate.agentSocket],
      this.#separate.credentials,
      this.#sources[side],
    );
  }

  async #untilStatus(name: string, wanted: number): Promise<void> {
    await until(
      `${wanted} from ${name}`,
      async () => (await this.#send(name, 'GET')).status,
      (status) => status === wanted,
      SETTLE_MS,
    );
  }

  #send(
    name: string,
    method: string,
    body?: Buffer,
  ): Promise<{ readonly status: number; readonly body: Buffer }> {
    return new Promise((resolve, reject) => {
      const headers = { host: `${name}.share.localhost` };
      const sent = request({ host: '127.0.0.1', port: this.#separate.port, method, headers, agent: false });
      sent.on('error', reject).on('response', (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece)).on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces) }));
      });
      sent.end(body);
    });
  }

  #processOf(part: Part): Pick<PartProcess, 'start' | 'stop' | 'output'> {
    return this.#separate[part];
  }

  #file(name: string): string {
    return join(this.#separate.folder, name);
  }
}

/**
 * Every mix, each one restart from the one before. The control plane changes once, in the middle, because a database that was
 * upgraded does not return to the earlier version.
 */
export function everyMix(): Sides[] {
  return Array.from({ length: 2 ** PARTS.length }, (_, at) => {
    const bits = at ^ (at >> 1);
    const isNew = (part: Part): boolean => ((bits >> (PARTS.length - 1 - PARTS.indexOf(part))) & 1) === 1;
    return Object.fromEntries(PARTS.map((part) => [part, isNew(part) ? 'new' : 'old'])) as unknown as Sides;
  });
}
