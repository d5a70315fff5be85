/**
 * A running Frontdoor with the agents of two machines: one is beside the applications, the other uses private shares. What people
 * do with the command line, it does with the command line.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTestAuthority } from '../support/certificates.ts';
import { until } from '../support/deadline.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';
import { AppShare } from './app-share.ts';
import { frontdoor } from './client-run.ts';
import { openEntrance, type AppEntrance } from './entrance.ts';
import { PrivateShare } from './private-share.ts';

/** Not below `localhost`, whose names development servers accept. */
const ZONE = 'apps.example';
const SERVED_MS = 30_000;

export class AppWorld {
  readonly #world: World;
  readonly #folder: string;
  readonly #entrance: AppEntrance;
  readonly #host: WorldAgent;
  readonly #user: WorldAgent;

  private constructor(options: {
    world: World;
    folder: string;
    entrance: AppEntrance;
    host: WorldAgent;
    user: WorldAgent;
  }) {
    this.#world = options.world;
    this.#folder = options.folder;
    this.#entrance = options.entrance;
    this.#host = options.host;
    this.#user = options.user;
  }

  static async open(): Promise<AppWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-apps-'));
    const authority = await makeTestAuthority();
    const { cert, key } = await authority.issue(ZONE, { dns: [`*.${ZONE}`] });
    const tls = { certFile: join(folder, 'zone.crt'), keyFile: join(folder, 'zone.key') };
    writeFileSync(tls.certFile, cert);
    writeFileSync(tls.keyFile, key, { mode: 0o600 });
    const world = await openWorld({ zone: ZONE, gatewayTls: tls, publicHttpsPort: 443 });
    const { httpsPort } = world.up;
    const entrance = await openEntrance({ folder, httpsPort, ca: authority.ca });
    const host = await world.startAgent('apps');
    const user = await world.startAgent('user');
    return new AppWorld({ world, folder, entrance, host, user });
  }

  /** `agent share public`; resolves when visitors reach it. */
  async publish(name: string, target: string, options: readonly string[]): Promise<AppShare> {
    await this.#agent(this.#host, ['share', 'public', target, '--name', name, ...options]);
    const { accountId, apiToken, frontdoorId } = this.#world.credentials;
    const change = async (changes: readonly string[]): Promise<void> => {
      await frontdoor(['shares', 'upstream', 'change', name, ...changes], {
        FRONTDOOR_API_URL: this.#world.up.control.apiUrl,
        FRONTDOOR_ACCOUNT_ID: accountId,
        FRONTDOOR_API_TOKEN: apiToken,
        FRONTDOOR_ID: frontdoorId,
      });
    };
    const share = new AppShare(`${name}.${ZONE}`, this.#entrance, change);
    await until(
      `${share.host} is served`,
      () => share.ask('/', { headers: { accept: 'application/json' } }),
      // Servers of WebSockets alone may close connections with other requests.
      ({ status, text }) => text.includes('no-answer') || (status < 500 && !text.includes('unknown-host')),
      SERVED_MS,
    );
    return share;
  }

  /** `agent share private` at one agent, and `agent access open` at the other. */
  async sharePrivately(name: string, target: string): Promise<PrivateShare> {
    const grant = ['--grant', this.#user.environmentId];
    await this.#agent(this.#host, ['share', 'private', target, '--name', name, ...grant]);
    const { value } = await until(
      `${name} is open`,
      () => this.#agent(this.#user, ['access', 'open', name, '--json']),
      Boolean,
      SERVED_MS,
    );
    const { listen } = JSON.parse(value) as { listen: string };
    return new PrivateShare(Number(listen.split(':').at(-1)));
  }

  async release(name: string): Promise<void> {
    await this.#agent(this.#host, ['release', name]);
  }

  async close(): Promise<void> {
    this.#entrance.close();
    await this.#world.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #agent({ dataDir }: WorldAgent, args: readonly string[]): Promise<string> {
    return frontdoor(['agent', ...args, '--data-dir', dataDir], {});
  }
}
