// Circuits of shares whose agents name the client of each connection to the service.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { get, GatewayWorld } from './testing/gateway-world.ts';
import { RawClient } from './testing/raw-client.ts';

const ALICE = '127.0.0.2';
const BOB = '127.0.0.3';

describe('a share whose service learns the client of each connection', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start({ limits: { standbyPerShare: 2 } });
  });
  after(() => world.close());

  /** Serves what each connection begins with. */
  async function serve(name: string): Promise<string[]> {
    const begins: string[] = [];
    await world.serveRaw(
      name,
      (socket) => {
        let seen = '';
        socket.on('data', (bytes) => {
          seen += bytes.toString('latin1');
          if (!seen.endsWith('\r\n\r\n')) return;
          begins.push(seen);
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
          seen = '';
        });
      },
      { upstream: { namesClient: true } },
    );
    return begins;
  }

  const clientsIn = (text: string) => [
    /^PROXY TCP4 (\S+) 0\.0\.0\.0 0 80\r\nGET /.exec(text)?.[1],
    /X-Forwarded-For: (\S+)/.exec(text)?.[1],
  ];

  it('gives each request a circuit of its own that was dialed for its client', async () => {
    const begins = await serve('apart');
    for (const address of [ALICE, BOB, ALICE]) {
      const client = world.own(await RawClient.connect(world.port, address));
      for (let count = 1; count <= 2; count += 1) {
        client.send(get('apart', '/', 'X-Real-IP: 203.0.113.9\r\nForwarded: for=203.0.113.9\r\n'));
        await client.until((text) => text.split('ok').length === count + 1);
        assert.deepEqual(clientsIn(begins.at(-1)!), [address, address]);
      }
      client.close();
    }
    assert.equal(world.gateway.stats().idleCircuits, 0);
  });

  it('mixes up no clients whose dials end together', async () => {
    const begins = await serve('together');
    const opened = Promise.withResolvers<void>();
    world.dialer.gate = opened.promise;
    const dials = world.dialer.dials;
    const addresses = Array.from({ length: 20 }, (_, at) => (at % 3 === 0 ? BOB : ALICE));
    const clients = await Promise.all(
      addresses.map(async (address) => world.own(await RawClient.connect(world.port, address))),
    );
    for (const client of clients) client.send(get('together'));
    await world.eventually(() => world.dialer.dials === dials + clients.length, 'all dials');
    // The circuits of clients that leave go to nobody.
    clients[0]!.close();
    clients[1]!.close();
    opened.resolve();
    world.dialer.gate = undefined;
    await Promise.all(clients.slice(2).map(async (client) => client.ended()));
    assert.ok(begins.length >= 18);
    for (const text of begins) {
      const [named, forwarded] = clientsIn(text);
      assert.ok(named !== undefined && named === forwarded, text);
    }
  });
});
