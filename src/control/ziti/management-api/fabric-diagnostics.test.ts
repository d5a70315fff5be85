// Traces and inspections as `ziti fabric` asks for them, over `/fabric/v1/ws-api` and `/fabric/v1/inspections`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { utf8 } from '#base';
import { contentType } from '#wire';
import { ctrlMessages, mgmtMessages, TraceFilterType, TraceToggleVerbosity } from '#wire/ctrl';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { FABRIC_INSPECTIONS_PATH } from './fabric-inspection-routes.ts';
import { FabricStreamReader, resultOf } from './fabric-stream-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';
import { until } from '../../../../test/support/deadline.ts';

let api: ManagementFixture;
let token: string;
before(async () => {
  api = await openManagementFixture();
  ({ token } = (await api.logIn()).data);
});
after(() => api.close());

const open = () => FabricStreamReader.open(api, { 'zt-session': token });

async function post(body: unknown, headers: Record<string, string> = { 'zt-session': token }) {
  const text = JSON.stringify(body);
  return rawRequest(api, { method: 'POST', path: FABRIC_INSPECTIONS_PATH, body: text, headers });
}

/** What the mesh was asked. */
const asked: { readonly names: readonly string[]; readonly isEast: boolean }[] = [];

function answerWith(...values: Awaited<ReturnType<typeof api.diagnostics.inspectSelected>>): void {
  api.diagnostics.inspectSelected = (names, selects) => {
    asked.push({ names, isEast: selects('east') });
    return Promise.resolve(values);
  };
}

describe('inspections', () => {
  it('have the values of routers as JSON, those of the control plane, and errors by application', async () => {
    answerWith({ routerId: 'east', name: 'links', value: { links: [] } });
    const { status, json } = await post({ appRegex: '^(east|ctrl)$', requestedValues: ['links', 'Config'] });
    assert.equal(status, 200);
    const { success, errors, values } = json as { success: boolean; errors: string[]; values: object[] };
    assert.deepEqual([success, errors], [true, []]);
    const config = { id: 'ctrl', ctrl: { advertise: 'tls:localhost:6262' }, edge: { api: api.apiUrl } };
    assert.deepEqual(values, [
      { appId: 'ctrl', name: 'Config', value: { ...config, interceptDomain: 'ziti' } },
      { appId: 'east', name: 'links', value: { links: [] } },
    ]);
    assert.deepEqual(asked.pop(), { names: ['links', 'Config'], isEast: true });
    answerWith({ routerId: 'west', name: '', error: 'no response within 8000 ms' });
    const { json: failed } = await post({ appRegex: 'west', requestedValues: ['links'] });
    const wrong = { success: false, errors: ['west: no response within 8000 ms'], values: [] };
    assert.deepEqual(failed, wrong);
  });

  it('are answered over the WebSocket, too, with texts', async () => {
    answerWith(
      { routerId: 'east', name: 'links', value: { links: [] } },
      { routerId: 'east', name: 'stackdump', value: 'a\nb' },
    );
    const reader = await open();
    const wish = { appRegex: 'east', requestedValues: ['links', 'stackdump'] };
    const body = mgmtMessages.fabricInspectRequest.encode(wish);
    const answer = await reader.ask(contentType.fabricInspectRequest, body);
    assert.equal(answer.contentType, contentType.fabricInspectResponse);
    const { success, values } = mgmtMessages.fabricInspectResponse.decode(answer.body);
    assert.equal(success, true);
    assert.deepEqual(
      values.map(({ appId, name, value }) => [appId, name, value]),
      [
        ['east', 'links', '{"links":[]}'],
        ['east', 'stackdump', 'a\nb'],
      ],
    );
    reader.socket.terminate();
  });

  it('are for administrators, bounded in their names, and in how many run at once', async () => {
    assert.equal((await post({ appRegex: '.*', requestedValues: ['links'] }, {})).status, 401);
    const problemOf = async (body: object): Promise<string> => {
      const { json } = await post(body);
      return (json as { errors: string[] }).errors.join();
    };
    assert.match(await problemOf({ appRegex: '(a+)+', requestedValues: ['links'] }), /repeated groups/);
    for (const requestedValues of [undefined, [], [1], [''], Array.from({ length: 33 }, () => 'links')])
      assert.match(await problemOf({ appRegex: '.*', requestedValues }), /no list of 1 to 32 names/);
    const waiting: (() => void)[] = [];
    api.diagnostics.inspectSelected = () => new Promise((resolve) => waiting.push(() => resolve([])));
    const running = Array.from({ length: 4 }, () => post({ appRegex: '.*', requestedValues: ['links'] }));
    await until(
      'four inspections',
      () => waiting.length,
      (count) => count === 4,
    );
    assert.match(
      await problemOf({ appRegex: '.*', requestedValues: ['links'] }),
      /others? inspections are running/,
    );
    for (const end of waiting) end();
    await Promise.all(running);
    answerWith();
    assert.equal(await problemOf({ appRegex: '.*', requestedValues: ['links'] }), '');
  });
});

describe('traces', () => {
  const reportOf = (type: number, decode = '{}'): { contentType: number; body: Uint8Array } => ({
    contentType: type,
    body: ctrlMessages.traceEvent.encode({ identity: 'r1', contentType: type, decode: utf8(decode) }),
  });

  it('are toggled by one request, whose answer has a line for each channel', async () => {
    const wishes: Uint8Array[] = [];
    api.diagnostics.toggleTraces = (wish) => {
      wishes.push(wish);
      return Promise.resolve({ isSuccess: wishes.length < 2, text: 'App r1 matched? true\n' });
    };
    const reader = await open();
    const wish = { enable: true, verbosity: TraceToggleVerbosity.ReportAll, appRegex: 'r1', pipeRegex: '.*' };
    const body = mgmtMessages.togglePipeTracesRequest.encode(wish);
    const { togglePipeTracesRequest } = contentType;
    assert.equal(resultOf(await reader.ask(togglePipeTracesRequest, body)), 'ok App r1 matched? true\n');
    assert.equal(resultOf(await reader.ask(togglePipeTracesRequest, body)), 'App r1 matched? true\n');
    assert.deepEqual(Buffer.from(wishes[0]!), Buffer.from(body));
    reader.socket.terminate();
  });

  it('are those of the content types that a reader selects, as routers report them', async () => {
    const [all, some, others] = [await open(), await open(), await open()];
    const { metrics, route } = contentType;
    const filter = (filterType: TraceFilterType) =>
      mgmtMessages.streamTracesRequest.encode({ enabledFilter: true, filterType, contentTypes: [metrics] });
    all.send(contentType.streamTracesRequest, mgmtMessages.streamTracesRequest.encode({}));
    some.send(contentType.streamTracesRequest, filter(TraceFilterType.INCLUDE));
    others.send(contentType.streamTracesRequest, filter(TraceFilterType.EXCLUDE));
    // The requests have no answer. A refused one behind them has.
    for (const reader of [all, some, others]) await reader.request({});
    for (const type of [metrics, route]) api.events.emit('trace', reportOf(type));
    const typesOf = async (reader: FabricStreamReader, count: number): Promise<number[]> => {
      await until(
        'traces',
        () => reader.frames.length,
        (have) => have >= count,
      );
      assert.ok(reader.frames.every((frame) => frame.contentType === contentType.streamTracesEvent));
      return reader.frames.map(({ body }) => ctrlMessages.traceEvent.decode(body).contentType);
    };
    assert.deepEqual(await typesOf(all, 2), [metrics, route]);
    assert.deepEqual(await typesOf(some, 1), [metrics]);
    assert.deepEqual(await typesOf(others, 1), [route]);
    for (const { socket } of [all, some, others]) socket.terminate();
    await until(
      'no listener',
      () => api.events.has('trace'),
      (has) => !has,
    );
  });

  it('of a reader that is too slow end it before they need much memory', async () => {
    const slow = await open();
    slow.send(contentType.streamTracesRequest, mgmtMessages.streamTracesRequest.encode({}));
    await until('the listener', () => api.events.has('trace'), Boolean);
    slow.socket.pause();
    const report = reportOf(contentType.route, `{"body":"${'x'.repeat(60_000)}"}`);
    let sent = 0;
    while (api.events.has('trace') && sent < 10_000) {
      api.events.emit('trace', report);
      sent += 1;
    }
    assert.ok(sent * report.body.length < 16_777_216, `${sent}`);
    slow.socket.resume();
    await slow.closed();
  });

  it('and inspections that are malformed end the connection', async () => {
    const malformed = new Uint8Array([0xff, 0xff]);
    for (const type of ['streamTracesRequest', 'fabricInspectRequest'] as const) {
      const reader = await open();
      reader.send(contentType[type], malformed);
      await reader.closed();
    }
  });
});
