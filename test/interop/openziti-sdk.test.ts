// Our router as the only edge router of an OpenZiti network whose clients log in with OIDC, which is the default: its
// data model and terminators, and its Go clients (`ziti tunnel`) that dial and host at ours. ZITI_BIN names `ziti`
// (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { until, within } from '../support/deadline.ts';
import { digestOf, startPrivateService, type PrivateService } from '../support/private-service.ts';
import { httpGet } from '../support/world.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 4 * 1024 * 1024;
const WAIT_MS = 30_000;
/** Time within which a change of policies at the controller ends what it forbids. */
const CUT_MS = 5_000;
/** Linux calls its loopback interface so; `ziti tunnel proxy` takes interfaces, not addresses. */
const LOOPBACK_INTERFACE = 'lo';

let mesh: OpenZitiMesh;
let service: PrivateService;
const doors = { sealed: 0, plain: 0 };

before(async () => {
  if (BINARY === undefined) return;
  service = await startPrivateService();
  mesh = await OpenZitiMesh.start(BINARY);
  const { network } = mesh;
  await mesh.ourRouter('ours', { edgePort: await freePort() });
  await network.allowAllRouters();
  const host = { protocol: 'tcp', address: '127.0.0.1', port: service.port };
  await network.run('edge create config host host.v1', JSON.stringify(host));
  for (const name of ['sealed', 'plain'] as const) {
    doors[name] = await freePort();
    const proxy = { protocols: ['tcp'], port: doors[name], binding: LOOPBACK_INTERFACE };
    await network.run(`edge create config ${name} proxy.v1`, JSON.stringify(proxy));
    const encryption = name === 'sealed' ? 'ON' : 'OFF';
    await network.run(
      `edge create service ${name} --configs host,${name} --role-attributes test --encryption ${encryption}`,
    );
  }
  await network.enrollHostAndDialer('#test');
  await network.start('host', 'tunnel host -i host.json --cli-agent=false');
  await network.start('dialer', 'tunnel proxy -i dialer.json --cli-agent=false', doors.sealed);
});
afterEach((context) => {
  if (!('passed' in context) || context.passed !== false) return;
  for (const text of [mesh?.ourOutput, mesh?.network.tail('host'), mesh?.network.tail('dialer')])
    console.error(text?.slice(-6_000));
});
after(async () => {
  await mesh?.stop();
  await service?.close();
});

for (const name of ['sealed', 'plain'] as const) {
  test(`Go clients meet at our router, bodies intact: a ${name} service`, { skip }, async () => {
    const get = (path: string): ReturnType<typeof httpGet> => httpGet(doors[name], name, path);
    await until(
      'an answer',
      () => get('/'),
      ({ status }) => status === 200,
      WAIT_MS,
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => get(`/bytes/${BODY_BYTES}`)));
    for (const { body } of answers) assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)));
  });
}

test(
  'what the controller’s own checks find of its data model, terminators and circuits is right',
  { skip },
  async () => {
    const { network } = mesh;
    const ours = 'name="ours"';
    assert.match(await network.run('fabric validate router-data-model', ours), /\b0 errors found/);
    assert.match(await network.run('fabric validate router-sdk-terminators', ours), /\b0 errors found/);
    assert.match(await network.run('fabric validate router-ert-terminators', ours), /\b0 errors found/);
    const statuses = 'fabric validate identity-connection-statuses';
    assert.match(await network.run(statuses, ours), /\b0 errors found/);
    const terminators = await network.run('fabric validate terminators --include-valid');
    assert.match(terminators, /binding: edge, .*state: Valid/);
    assert.doesNotMatch(terminators, /state: (Invalid|Unknown)/);
    const noCircuit = () =>
      until(
        'no circuit now',
        () => mesh.circuitIds(),
        ({ length }) => length === 0,
        2 * WAIT_MS,
      );
    // One that ends in the meantime is found missing at the controller.
    await noCircuit();
    const { end } = await openStream();
    const circuits = (): Promise<string> =>
      network.run('fabric validate circuits --include-valid', ours).catch(String);
    const isRight = (found: string): boolean =>
      /missing in sdk: false/.test(found) && /\b0 errors found/.test(found);
    await until('a standing circuit in which nothing is missing', circuits, isRight, WAIT_MS);
    end();
    await noCircuit();
  },
);

test(
  'a policy that ends at the controller cuts open circuits within 5 s, and new ones are refused',
  { skip },
  async () => {
    const { network } = mesh;
    const { ended } = await openStream();
    await network.run('edge delete service-policy dialer');
    const sinceMs = performance.now();
    await within('the end of the stream', ended, WAIT_MS);
    assert.ok(performance.now() - sinceMs < CUT_MS, `cut after ${performance.now() - sinceMs} ms`);
    await assert.rejects(httpGet(doors.plain, 'plain', '/'));
  },
);

test('an identity that is deleted at the controller loses its channels within 5 s', { skip }, async () => {
  const isEnded = (output: string): boolean => output.includes('API session ended');
  assert.equal(isEnded(mesh.ourOutput), false);
  await mesh.network.run('edge delete identity host');
  await until('the end of its session', () => mesh.ourOutput, isEnded, CUT_MS);
});

/** An answer of the plain service that does not end by itself. */
async function openStream(): Promise<{ readonly ended: Promise<void>; end(): void }> {
  const asked = request({ host: '127.0.0.1', port: doors.plain, path: '/events', agent: false });
  asked.end();
  const [answer] = (await within('an event stream', once(asked, 'response'))) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  const { promise, resolve } = Promise.withResolvers<void>();
  answer.on('error', () => {});
  answer.once('close', resolve);
  answer.resume();
  return { ended: promise, end: () => void asked.destroy() };
}
