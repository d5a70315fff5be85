// What a running router reports and writes as its configuration file asks: figures, health, traces, snapshots,
// warnings.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { textOf } from '#base';
import { ctrlMessages, decodeTraceRecords } from '#wire/ctrl';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/deadline.ts';
import { keptLog, RouterStage, type Sections } from '../support/router-stage.ts';

interface Check {
  readonly id: string;
  readonly healthy: boolean;
  readonly details?: readonly { readonly destRouterId: string }[] | null;
  readonly err?: { readonly message: string };
}

interface Health {
  readonly data: { readonly checks: readonly Check[]; readonly healthy: boolean };
}

const web = (port: number): Sections => ({
  web: [
    {
      name: 'health',
      bindPoints: [{ interface: `127.0.0.1:${port}`, address: `localhost:${port}` }],
      apis: [{ binding: 'health-checks' }],
    },
  ],
});

function get(port: number, path: string): Promise<{ status: number | undefined; body: Health }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: Health }>();
  const asked = request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false });
  asked.on('error', reject).on('response', (response) => {
    void json(response).then(
      (body) => resolve({ status: response.statusCode, body: body as Health }),
      reject,
    );
  });
  asked.end();
  return promise;
}

async function untilHealth(
  port: number,
  what: string,
  isContent: (health: Health) => boolean,
): Promise<Health> {
  const { value } = await until(
    what,
    () => get(port, '/health-checks'),
    ({ body }) => isContent(body),
  );
  assert.equal(value.status, 200);
  return value.body;
}

function checkOf({ data }: Health, id: string): Check {
  return data.checks.find((check) => check.id === id)!;
}

test('ctrlPingCheck and linkCheck run by their intervals, and the web server reports them', async (t) => {
  const stage = await RouterStage.open(t);
  const port = await freePort();
  const absent = await stage.controller({ port: await freePort() });
  await absent.close();
  const quick = { interval: '100ms', initialDelay: '50ms' };
  await stage.start([absent], {
    ...web(port),
    healthChecks: { ctrlPingCheck: { ...quick, timeout: '50ms' }, linkCheck: { ...quick, minLinks: 1 } },
    link: { dialers: [{ binding: 'transport' }] },
  });
  const bad = await untilHealth(port, 'both checks to fail', ({ data }) =>
    data.checks.every(({ healthy, err }) => !healthy && err?.message !== "didn't run yet"),
  );
  assert.equal(bad.data.healthy, false);
  assert.match(checkOf(bad, 'controllerPing').err!.message, /no control channels/);
  assert.match(checkOf(bad, 'link.health').err!.message, /link count 0 less than .* 1/);

  const controller = await stage.controller({ port: absent.port });
  await controller.connected();
  await untilHealth(
    port,
    'the controller to be there',
    (health) => checkOf(health, 'controllerPing').healthy,
  );
  const peer = await stage.linkPeer('router-2');
  controller.send(ctrlMessages.peerStateChanges.frame(peer.news));
  const good = await untilHealth(port, 'the link to be there', ({ data }) => data.healthy);
  assert.equal(checkOf(good, 'link.health').details![0]!.destRouterId, 'router-2');
});

test('without healthChecks the checks are there with their defaults, and no link is asked for', async (t) => {
  const stage = await RouterStage.open(t);
  const port = await freePort();
  const controller = await stage.controller();
  await stage.start([controller], web(port));
  const { body } = await get(port, '/health-checks?type=short');
  const ids = body.data.checks.map(({ id }) => id).toSorted();
  assert.deepEqual(ids, ['controllerPing', 'link.health']);
  assert.equal(checkOf(body, 'link.health').healthy, true);
});

test('without web no port is opened for it', async (t) => {
  const stage = await RouterStage.open(t);
  const port = await freePort();
  const controller = await stage.controller();
  await stage.start([controller], { healthChecks: { linkCheck: { minLinks: 1 } } });
  await controller.connected();
  await assert.rejects(get(port, '/health-checks'), { code: 'ECONNREFUSED' });
});

test('metrics.reportInterval: the figures come to the controller again and again, with the router’s name', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  await stage.start([controller], { metrics: { reportInterval: '200ms', messageQueueSize: 3 } });
  const first = await controller.next('metrics');
  const second = await controller.next('metrics');
  assert.deepEqual([first.sourceId, second.sourceId], ['router-1', 'router-1']);
  assert.notEqual(first.eventId, second.eventId);
  assert.ok(Object.keys(first.meters).includes('ingress.rx.bytesrate'));
});

test('trace.path: the messages of the control channel stand in the file, decoded', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const path = join(stage.folder, 'router.trace');
  await stage.start([controller], { trace: { path } });
  await controller.connected();
  controller.send(ctrlMessages.peerStateChanges.frame({ changes: [{ id: 'somebody-else' }] }));
  await until(
    'the message in the file',
    () =>
      decodeTraceRecords(readFileSync(path))!.flatMap((one) =>
        one.kind === 'message' ? [`${one.record.isRx} ${textOf(one.record.decode!)}`] : [],
      ),
    (texts) =>
      [/^false .*RouterLinks/, /^true .*PeerStateChange.*somebody-else/].every((one) =>
        texts.some((text) => one.test(text)),
      ),
  );
});

test('edge.db: the data model is written there by dbSaveIntervalSeconds; without the key beside the file', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const named = join(stage.folder, 'model.gz');
  const cases = [
    { id: 'router-1', edge: { db: named, dbSaveIntervalSeconds: 1 }, path: named },
    {
      id: 'router-2',
      edge: { dbSaveIntervalSeconds: '1s' },
      path: join(stage.folder, 'router-2.yml.proto.gzip'),
    },
  ];
  for (const [index, { id, edge, path }] of cases.entries()) {
    await stage.start([controller], { edge }, { id });
    await controller.connected(index + 1);
    await controller.next('subscribeToDataModel');
    assert.equal(existsSync(path), false);
    controller.send(ctrlMessages.dataState.frame({ endIndex: 7n, timelineId: 'timeline', events: [] }));
    const { value } = await until(
      'the snapshot',
      () => gunzipSync(readFileSync(path)),
      (bytes) => bytes.length > 0,
    );
    assert.equal(ctrlMessages.dataState.decode(value).endIndex, 7n);
  }
});

test('transport.westworld3 is one warning, and the router runs', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const { log, lines } = keptLog();
  const westworld3 = {
    profile_version: 1,
    tx_portal_min_sz: 16_384,
    tx_portal_max_sz: 65_536,
    instrument: { name: 'metrics', path: 'ww3', snapshot_ms: 1_000, enabled: true },
  };
  await stage.start([controller], { transport: { westworld3 } }, { log });
  await controller.connected();
  const warnings = lines.filter(({ fields }) => String(fields['key']).startsWith('transport'));
  assert.deepEqual(
    warnings.map(({ level, fields }) => [level, fields['key']]),
    [['warn', 'transport.westworld3']],
  );
});

test('an unknown key is logged as a warning at the start, with the nearest known key', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const { log, lines } = keptLog();
  await stage.start([controller], { forwarder: { idleTxIntervall: 5 } }, { log });
  const warnings = lines.find(({ fields }) => fields['key'] === 'forwarder.idleTxIntervall');
  assert.match(warnings!.message, /idleTxInterval\b/);
});
