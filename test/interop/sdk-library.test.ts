// `@frontdoor-dev/frontdoor/sdk` at OpenZiti's controller: it enrolls, dials and hosts through OpenZiti's edge router and through ours,
// encrypted end to end. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { after, afterEach, before, test } from 'node:test';
import { enroll, openOverlay, type Overlay } from '#sdk/library';
import { until, within } from '../support/deadline.ts';
import { sendAndReceive } from '../support/echo-stream.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 100_000_000;
const TRANSFER_MS = 120_000;
const SHORT_COUNT = 200;
const AT_ONCE = 20;

let mesh: OpenZitiMesh;
const overlays: Overlay[] = [];

before(async () => {
  if (BINARY === undefined) return;
  mesh = await OpenZitiMesh.start(BINARY);
  const { network, folder } = mesh;
  await network.allowAllRouters();
  await network.run('edge create service sealed --encryption ON --role-attributes test');
  for (const [name, right] of [
    ['host', 'Bind'],
    ['dialer', 'Dial'],
  ] as const) {
    await network.run(`edge create identity ${name} -o ${name}.jwt`);
    await network.run(
      `edge create service-policy ${name} ${right} --service-roles #test --identity-roles @${name}`,
    );
    await enroll({ tokenFile: join(folder, `${name}.jwt`), identityFile: join(folder, `${name}.json`) });
  }
});
afterEach(async (context) => {
  for (const overlay of overlays.splice(0)) await overlay.close();
  if (!('passed' in context) || context.passed !== false) return;
  for (const text of [mesh?.ourOutput, mesh?.network.tail('controller'), mesh?.network.tail('go')])
    console.error(text?.slice(-6_000));
});
after(() => mesh?.stop());

async function open(name: string): Promise<Overlay> {
  const overlay = await openOverlay({ identityFile: join(mesh.folder, `${name}.json`) });
  overlays.push(overlay);
  return overlay;
}

async function exchange(): Promise<void> {
  const [host, dialer] = [await open('host'), await open('dialer')];
  const server = await host.bind('sealed');
  server.on('connection', (stream) => stream.pipe(stream));
  const addressed = await host.bind('sealed', { terminator: 'second', cost: 5, precedence: 'required' });
  addressed.on('connection', (stream) => stream.end('second'));

  const stream = await dialer.dial('sealed', { encryption: 'required' });
  await within('100 MB in both directions', sendAndReceive(stream, BODY_BYTES), TRANSFER_MS);
  for (let count = 0; count < SHORT_COUNT; count += AT_ONCE) {
    const short = Array.from({ length: AT_ONCE }, async () =>
      sendAndReceive(await dialer.dial('sealed'), 1_000),
    );
    await within('short connections', Promise.all(short));
  }

  const held = await dialer.dial('sealed');
  const validate = (): Promise<string> =>
    mesh.network.run('fabric validate circuits --include-valid').catch(String);
  const isRight = (found: string): boolean =>
    /missing in sdk: false/.test(found) && /\b0 errors found/.test(found);
  await until('circuits in which nothing is missing', validate, isRight, TRANSFER_MS);
  held.destroy();

  // Streams that have ended stay whole at the host, although the dialer closes everything at once.
  const leaving = await open('dialer');
  const ended: Promise<void>[] = [];
  server.on('connection', (hosted) => ended.push(finished(hosted)));
  const last = Array.from({ length: AT_ONCE }, async () =>
    sendAndReceive(await leaving.dial('sealed'), 100_000),
  );
  await within('the last connections', Promise.all(last));
  await leaving.close();
  await within('their ends at the host', Promise.all(ended));
  assert.equal(ended.length, AT_ONCE);

  const second = await dialer.dial('sealed', { terminator: 'second' });
  const [part] = (await within('the other host', once(second, 'data'))) as [Buffer];
  assert.equal(String(part), 'second');
  second.destroy();
  await assert.rejects(dialer.dial('sealed', { terminator: 'third' }), /third/);
  await until(
    'both hosts',
    () => dialer.terminators('sealed'),
    (listed) =>
      listed
        .map(({ identity }) => identity)
        .sort()
        .join() === ',second',
  );
}

test(
  'it dials and hosts through OpenZiti’s edge router: 100 MB both ways, 200 short connections',
  { skip },
  async () => {
    const router = await mesh.goRouter('go', { edgePort: await freePort() });
    await exchange();
    for (const overlay of overlays.splice(0)) await overlay.close();
    await router.kill();
    await mesh.network.run('edge delete edge-router go');
  },
);

test('it dials and hosts through our router at OpenZiti’s controller, the same', { skip }, async () => {
  await mesh.ourRouter('ours', { edgePort: await freePort() });
  await exchange();
});
