/**
 * Two gateways that serve the same users: a change that one of them has received must reach the other in the
 * promised time.
 */
import assert from 'node:assert/strict';
import { until } from './deadline.ts';
import type { IdentityWorld, SecondGateway } from './identity-world.ts';
import { openSocket, type LiveStream } from './live-stream.ts';
import { goThroughProvider } from './login-browser.ts';
import { SESSION_COOKIE, type Entrance, type Visitor } from './visitor.ts';

/** Promised: how long a change may take to be known to every gateway, and how long a stream may outlive it. */
export const KNOWN_MS = 5_000;
export const CUT_MS = 10_000;

export class EntrancePair {
  readonly world: IdentityWorld;
  readonly second: SecondGateway;
  readonly providerId: string;

  constructor(world: IdentityWorld, second: SecondGateway, providerId: string) {
    this.world = world;
    this.second = second;
    this.providerId = providerId;
  }

  get both(): readonly [Entrance, Entrance] {
    return [this.world, this.second];
  }

  /** The host of a share that both guard. */
  async share(name: string): Promise<string> {
    const host = await this.world.share(name, [this.providerId]);
    await this.untilRefused('the second gateway guards it too', this.second, host);
    return host;
  }

  async statusAt(at: Entrance, host: string, session?: string): Promise<number> {
    const headers = session === undefined ? {} : { cookie: `${SESSION_COOKIE}=${session}` };
    return (await this.world.visitor().ask(host, '/', { headers, navigates: false, at })).status;
  }

  async untilRefused(what: string, at: Entrance, host: string, session?: string): Promise<void> {
    await until(
      what,
      () => this.statusAt(at, host, session),
      (status) => status === 401,
      KNOWN_MS,
    );
  }

  /** Begun at one, back from the provider at another, redeemed at a third. */
  async logInBy(host: string, begins: Entrance, returns: Entrance, redeems: Entrance): Promise<Visitor> {
    const visitor = this.world.visitor();
    const started = await visitor.ask(host, '/wanted?x=1', { at: begins });
    assert.equal(started.status, 302, started.text);
    const back = await goThroughProvider(started.location, { user: 'ann' });
    const returned = await visitor.ask(back.hostname, back.pathname + back.search, { at: returns });
    assert.equal(returned.status, 302, returned.text);
    const code = new URL(returned.location);
    const done = await visitor.ask(code.hostname, code.pathname + code.search, { at: redeems });
    assert.deepEqual([done.status, done.location], [303, '/wanted?x=1'], done.text);
    return visitor;
  }

  /** A session of the first gateway is refused by the second, and its stream there cut, once its person logs out. */
  async assertEndsTogether(host: string): Promise<void> {
    const ann = this.world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    const stream = await openSocket(this.second, host, { cookie: `${SESSION_COOKIE}=${session}` });
    assert.equal((await ann.ask(host, '/.frontdoor/logout', { method: 'POST' })).status, 200);
    await this.untilRefused('the second gateway refuses it', this.second, host, session);
    await untilCut('its stream is cut', stream);
  }
}

export async function untilCut(what: string, stream: LiveStream): Promise<void> {
  await until(
    what,
    () => stream.isOpen,
    (isOpen) => !isOpen,
    CUT_MS,
  );
}
