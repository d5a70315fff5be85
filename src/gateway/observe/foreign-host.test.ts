// A service that refuses the host of its share: the response passes, and the owner gets the remedy.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { silentLog } from '#base';
import type { InspectedRequest, RequestFailure } from '#domain/gateway-shapes';
import { until } from '../../../test/support/deadline.ts';
import { get, GatewayWorld } from '../testing/gateway-world.ts';
import { Observation } from './observation.ts';

const failures: RequestFailure[] = [];
const inspected: InspectedRequest[] = [];
let world: GatewayWorld;
let observation: Observation;
let answer = { status: 403, body: '', encoding: 'identity' };
before(async () => {
  observation = new Observation({
    reportFailures: async (records) => void failures.push(...records),
    reportInspections: async (records) => void inspected.push(...records),
    reportRequests: async () => {},
    provider: () => undefined,
    hasMetrics: false,
    log: silentLog,
    delayMs: 1,
  });
  world = await GatewayWorld.start({ observer: observation.observer });
  const inspection = { maxBodyBytes: 1_000, untilMs: Date.now() + 3_600_000 };
  await world.serve(
    'app',
    (_request, response) => {
      const { status, body, encoding } = answer;
      response.writeHead(status, encoding === 'identity' ? {} : { 'Content-Encoding': encoding }).end(body);
    },
    { inspection },
  );
});
after(async () => {
  await world.close();
  await observation.close(1_000);
});

const BLOCKED = 'Blocked request. This host ("app.share.localhost") is not allowed.';
const ask = async (status: number, body: string, encoding = 'identity'): Promise<string> => {
  answer = { status, body, encoding };
  inspected.length = 0;
  const client = await world.client();
  client.send(get('app'));
  const text = await client.ended();
  await until(
    'the recorded request',
    () => inspected.length,
    (count) => count === 1,
  );
  return text;
};

it('the failure of a request to it names the application and the remedy', async () => {
  const text = await ask(403, BLOCKED + 'x'.repeat(10_000));
  assert.match(text, /^HTTP\/1\.1 403 /);
  assert.ok(text.includes(BLOCKED + 'x'.repeat(10_000)));
  await until(
    'the failure',
    () => failures.length,
    (count) => count === 1,
  );
  const [failure] = failures;
  assert.deepEqual([failure!.code, failure!.hop, failure!.status], ['foreign-host', 'service', 403]);
  assert.match(failure!.cause, /Vite, does not accept the host .* --host-header localhost/);
  assert.equal(inspected[0]!.failure?.code, 'foreign-host');
  assert.equal(inspected[0]!.answer.bodyBytes, BLOCKED.length + 10_000);
});

it('other refusals, other responses and encoded bodies are no failures', async () => {
  failures.length = 0;
  for (const [status, body, encoding] of [
    [403, 'Forbidden'],
    [200, BLOCKED],
    [403, BLOCKED, 'gzip'],
  ] as const) {
    await ask(status, body, encoding);
    assert.equal(inspected[0]!.failure, null, body);
  }
  assert.deepEqual(failures, []);
});
