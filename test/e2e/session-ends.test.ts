// An operator lists the sessions of a person who left, and ends them at every gateway for good.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/deadline.ts';
import { EntrancePair, untilCut } from '../support/entrance-pair.ts';
import type { IdentityWorld, SecondGateway } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityPair } from '../support/shared-world.ts';
import { openSocket } from '../support/live-stream.ts';
import { SESSION_COOKIE, type Entrance } from '../support/visitor.ts';

const BACK_MS = 15_000;

interface Listed {
  readonly id: string;
  readonly email: string | null;
  readonly subject: string;
  readonly name: string | null;
  readonly shareToken: string;
  readonly host: string;
}

describe('sessions that an operator ends', () => {
  let world: IdentityWorld;
  let second: SecondGateway;
  let oidc: string;
  let pair: EntrancePair;
  before(async () => {
    ({ world, second } = await sharedIdentityPair());
    oidc = await world.addProvider('OIDC', 'staff');
    pair = new EntrancePair(world, second, oidc);
  });
  after(releaseWorld);

  async function logIn(host: string, user: string): Promise<string> {
    const visitor = world.visitor();
    await visitor.logIn(host, '/', user);
    const session = visitor.cookie(host)!;
    for (const at of pair.both) assert.equal(await pair.statusAt(at, host, session), 200);
    return session;
  }

  function run(...args: readonly string[]): Promise<string> {
    const { folder, frontdoorId } = world.parts;
    const ours = ['--frontdoor', frontdoorId, '--ca', join(folder, 'api-ca.pem')];
    return world.parts.run('auth-providers', 'sessions', ...args, ...ours);
  }

  it('are listed, and end with everything of one person, by e-mail, at every gateway and share', async () => {
    const [first, other] = [await pair.share('left'), await pair.share('left-too')];
    const [ann, annToo, bob] = [
      await logIn(first, 'ann'),
      await logIn(other, 'ann'),
      await logIn(first, 'bob'),
    ];
    const streams = await Promise.all(
      pair.both.map((at) => openSocket(at, first, { cookie: `${SESSION_COOKIE}=${ann}` })),
    );
    const kept = await openSocket(second, first, { cookie: `${SESSION_COOKIE}=${bob}` });
    const listed = JSON.parse(await run('list', oidc, '--json')) as Listed[];
    assert.deepEqual(
      listed.map(({ email, subject, name, shareToken, host }) => [email, subject, name, shareToken, host]),
      [
        ['bob@elsewhere.test', 'bob', 'Bob', 'left', first],
        ['ann@example.com', 'ann', 'Ann', 'left-too', other],
        ['ann@example.com', 'ann', 'Ann', 'left', first],
      ],
    );
    const table = await run('list', oidc, '--email', 'Ann@example.com');
    assert.equal(table.match(/ann@example\.com/g)?.length, 2);
    for (const secret of [ann, annToo]) assert.ok(!(table + JSON.stringify(listed)).includes(secret));

    assert.equal(await run('end', oidc, '--email', 'ann@example.com'), 'ended 2 sessions\n');
    for (const at of pair.both) {
      await pair.untilRefused('refused', at, first, ann);
      await pair.untilRefused('refused at the other share', at, other, annToo);
      assert.equal(await pair.statusAt(at, first, bob), 200);
    }
    for (const stream of streams) await untilCut('cut', stream);
    assert.equal(kept.isOpen, true);
    kept.close();
  });

  it('end one by one', async () => {
    const host = await pair.share('one');
    const [laptop, phone] = [await logIn(host, 'ann'), await logIn(host, 'ann')];
    const [newest] = JSON.parse(await run('list', oidc, '--subject', 'ann', '--json')) as Listed[];
    assert.equal(await run('end', oidc, newest!.id), `ended ${newest!.id}\n`);
    for (const at of pair.both) {
      await pair.untilRefused('refused', at, host, phone);
      assert.equal(await pair.statusAt(at, host, laptop), 200);
    }
  });

  it('end for everyone at once, and a log-in afterwards is accepted', async () => {
    const host = await pair.share('everybody');
    const sessions = [await logIn(host, 'ann'), await logIn(host, 'bob')];
    const stream = await openSocket(second, host, { cookie: `${SESSION_COOKIE}=${sessions[1]}` });
    await assert.rejects(run('end', oidc), /choose the sessions to end/);
    assert.match(await run('end', oidc, '--all', '--json'), /"ended": [2-9]/);
    for (const at of pair.both)
      for (const session of sessions) await pair.untilRefused('refused', at, host, session);
    await untilCut('cut', stream);
    await logIn(host, 'bob');
  });

  it('stay ended when gateway and control plane are killed and come back, in any order', async () => {
    const host = await pair.share('restarted');
    const [ann, bob] = [await logIn(host, 'ann'), await logIn(host, 'bob')];
    await second.part.kill();
    assert.equal(await run('end', oidc, '--subject', 'ann'), 'ended 1 session\n');
    await world.parts.control.kill();
    await world.parts.control.start();
    const { securePort } = await second.part.start();
    const again: Entrance = { ca: world.ca, plainPort: second.plainPort, securePort };
    const bobIsIn = (): Promise<number> => pair.statusAt(again, host, bob);
    await until('the gateway is back', bobIsIn, (status) => status === 200, BACK_MS);
    assert.equal(await pair.statusAt(again, host, ann), 401);
    // The first gateway may not have received the change before the control plane was killed.
    const annIsOut = (): Promise<number> => pair.statusAt(world, host, ann);
    await until('the first gateway has received the end', annIsOut, (status) => status === 401, BACK_MS);
  });
});
