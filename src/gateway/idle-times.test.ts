// The time that a share gives a response or an upgraded connection without a byte.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Socket } from 'node:net';
import { remedyOf } from '#domain';
import { get, GatewayWorld } from './testing/gateway-world.ts';

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

describe('a share with an idle time of its own', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start();
  });
  after(() => world.close());

  async function cut(name: string, head: string, lines: string, answered: string): Promise<void> {
    const onData = (socket: Socket): void =>
      void socket.once('data', () => socket.write(`${head}${answered}`));
    await world.serveRaw(name, onData, { upstream: { idleMs: 1 } });
    const client = await world.client();
    client.send(get(name, '/', lines));
    await client.until((text) => text.endsWith(`\r\n\r\n${answered}`));
    await world.eventually(() => !client.isOpen, 'the end of the connection');
    const found = world.records.filter(({ code, share }) => code === 'stream-idle' && share === name);
    assert.equal(found.length, 1, JSON.stringify(world.records));
  }

  it('cuts a silent response, with a code of which the remedy names the setting', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n';
    await cut('response', head, 'Connection: close\r\n', 'some');
    assert.match(remedyOf('stream-idle'), /--idle-timeout/);
  });

  it('cuts a silent upgraded connection', () =>
    cut('upgrade', `HTTP/1.1 101 Switching Protocols\r\n${UPGRADE}\r\n`, UPGRADE, ''));
});
