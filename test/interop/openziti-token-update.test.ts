// Go clients at our router whose tokens live for a minute, the least that OpenZiti's controller issues: they replace them,
// and nothing breaks. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { until, within } from '../support/deadline.ts';
import { startPrivateService } from '../support/private-service.ts';
import { httpGet } from '../support/world.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const WAIT_MS = 30_000;
/** The first tokens have expired by then, with the tolerance. */
const LIFE_MS = 90_000;

test('a stream of Go clients lasts longer than their tokens, and new circuits begin', { skip }, async (t) => {
  const service = await startPrivateService();
  t.after(() => service.close());
  const mesh = await OpenZitiMesh.start(BINARY!, { accessTokenDuration: '1m' });
  t.after(() => mesh.stop());
  const { network } = mesh;
  await mesh.ourRouter('ours', { edgePort: await freePort() });
  await network.allowAllRouters();
  const door = await freePort();
  const host = { protocol: 'tcp', address: '127.0.0.1', port: service.port };
  await network.run('edge create config host host.v1', JSON.stringify(host));
  const proxy = { protocols: ['tcp'], port: door, binding: 'lo' };
  await network.run('edge create config door proxy.v1', JSON.stringify(proxy));
  await network.run('edge create service web --configs host,door --role-attributes test');
  await network.enrollHostAndDialer('#test');
  await network.start('host', 'tunnel host -i host.json --cli-agent=false');
  await network.start('dialer', 'tunnel proxy -i dialer.json --cli-agent=false', door);
  const get = (): ReturnType<typeof httpGet> => httpGet(door, 'web', '/');
  await until('an answer', get, ({ status }) => status === 200, WAIT_MS);

  const asked = request({ host: '127.0.0.1', port: door, path: '/events', agent: false });
  asked.end();
  const [stream] = (await within('an event stream', once(asked, 'response'))) as [IncomingMessage];
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await service.sendEvent('first');
  await until(
    'the first event',
    () => text,
    (it) => it.includes('first'),
    WAIT_MS,
  );
  const endMs = performance.now() + LIFE_MS;
  await until(
    'the end of the first tokens',
    () => performance.now(),
    (nowMs) => nowMs > endMs,
    2 * LIFE_MS,
  );
  await service.sendEvent('last');
  await until(
    'the last event',
    () => text,
    (it) => it.includes('last'),
    WAIT_MS,
  );
  assert.equal((await get()).status, 200);
  assert.equal(stream.destroyed, false);
  asked.destroy();
});
