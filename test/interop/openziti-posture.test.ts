// Posture checks of a real controller, which our router applies: a Go client reports its operating system to the router, and
// dials what a policy with a check permits it. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import type { AddressInfo, Server } from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '../support/deadline.ts';
import { exchange, startEcho } from '../support/echo-service.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 100_000;
const WAIT_MS = 30_000;
/** Time within which a change of policies at the controller ends what it forbids. */
const CUT_MS = 5_000;
/** `ziti tunnel proxy` takes interfaces, not addresses. */
const LOOPBACK_INTERFACE = 'lo';

let mesh: OpenZitiMesh;
let echo: Server;
const doors = { passing: 0, failing: 0 };

before(async () => {
  if (BINARY === undefined) return;
  echo = await startEcho();
  mesh = await OpenZitiMesh.start(BINARY);
  const { network } = mesh;
  await mesh.ourRouter('ours', { edgePort: await freePort() });
  await network.allowAllRouters();
  const { port } = echo.address() as AddressInfo;
  const host = JSON.stringify({ protocol: 'tcp', address: '127.0.0.1', port });
  await network.run('edge create config host host.v1', host);
  for (const name of ['passing', 'failing'] as const) {
    doors[name] = await freePort();
    const proxy = { protocols: ['tcp'], port: doors[name], binding: LOOPBACK_INTERFACE };
    await network.run(`edge create config ${name} proxy.v1`, JSON.stringify(proxy));
    await network.run(`edge create service ${name} --configs host,${name} --role-attributes test`);
  }
  await network.enrollHostAndDialer('#test');
  await network.run('edge delete service-policy dialer');
  for (const [name, system] of [
    ['passing', 'Linux'],
    ['failing', 'Windows'],
  ] as const) {
    await network.run(`edge create posture-check os ${name} -o ${system} -a ${name}`);
    await network.run(
      `edge create service-policy dial-${name} Dial --service-roles @${name} --identity-roles @dialer --posture-check-roles #${name}`,
    );
  }
  await network.start('host', 'tunnel host -i host.json --cli-agent=false');
  await network.start('dialer', 'tunnel proxy -i dialer.json --cli-agent=false', doors.passing);
});
after(async () => {
  await mesh?.stop();
  echo?.close();
});

async function isServed(name: keyof typeof doors): Promise<boolean> {
  const result = await exchange(doors[name], BODY_BYTES).catch(() => undefined);
  return result !== undefined && result.received === result.sent;
}

test('a Go client dials what its posture permits, and nothing else', { skip }, async () => {
  await until('a whole answer', () => isServed('passing'), Boolean, WAIT_MS);
  assert.equal(await isServed('failing'), false);
});

test(
  'a check that begins to pass at the controller permits the dial, one that ends it refuses it',
  { skip },
  async () => {
    const { network } = mesh;
    await network.run('edge update posture-check os failing -o Linux');
    await until('a whole answer', () => isServed('failing'), Boolean, CUT_MS);
    await network.run('edge update posture-check os passing -o Windows');
    await until(
      'a refusal',
      () => isServed('passing'),
      (it) => !it,
      CUT_MS,
    );
  },
);
