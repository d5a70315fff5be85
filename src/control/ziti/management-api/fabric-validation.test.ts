// `ziti fabric validate` over `/fabric/v1/ws-api`: what a filter selects, answers, results, and refusals.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { contentType, type Frame } from '#wire';
import { mgmtMessages, TerminatorState } from '#wire/ctrl';
import { FabricStreamReader } from './fabric-stream-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';
import { until } from '../../../../test/support/deadline.ts';

let api: ManagementFixture;
let token: string;
let reader: FabricStreamReader;
const routers: Record<string, string> = {};
/** What the mesh was asked. */
const asked: string[] = [];

before(async () => {
  api = await openManagementFixture();
  ({ token } = (await api.logIn()).data);
  for (const name of ['east', 'west']) routers[name] = await api.make('edge-routers', { name });
  api.diagnostics.validation = {
    compareRouter: (comparison, { name }) => {
      asked.push(`${comparison} ${name}`);
      return Promise.resolve(mgmtMessages[RESULTS[comparison]].frame({ routerName: name }));
    },
    compareDataModel: ({ name: componentName }, fix) => {
      asked.push(`${componentName} ${fix}`);
      return Promise.resolve(mgmtMessages.validateDataModelResult.frame({ componentName }));
    },
    ownDataModel: () => mgmtMessages.validateDataModelResult.frame({ componentType: 'controller' }),
    async *validateTerminators(ids, fixed) {
      for (const terminatorId of ids)
        yield mgmtMessages.validateTerminatorsResult.frame({
          terminatorId,
          fixed,
          state: TerminatorState.InvalidBadState,
        });
    },
  };
});
after(() => api.close());
beforeEach(async () => {
  reader = await FabricStreamReader.open(api, { 'zt-session': token });
});
afterEach(() => reader.socket.terminate());

const RESULTS = {
  links: 'validateRouterLinksResult',
  sdkTerminators: 'validateSdkTerminatorsResult',
  tunnelTerminators: 'validateTunnelTerminatorsResult',
  circuits: 'validateCircuitsResult',
  connections: 'validateConnectionsResult',
} as const;

const { validateRouterLinksRequest, validateRouterLinksResponse } = mgmtMessages;

async function linksAnswer(of: FabricStreamReader, filter: string) {
  const body = validateRouterLinksRequest.encode({ filter });
  const answer = await of.ask(contentType.validateRouterLinksRequest, body);
  assert.equal(answer.contentType, contentType.validateRouterLinksResponse);
  return validateRouterLinksResponse.decode(answer.body);
}

async function results(count: number, type: number): Promise<Frame[]> {
  const frames = [];
  while (frames.length < count) frames.push(await reader.next());
  assert.ok(frames.every((frame) => frame.contentType === type));
  return frames;
}

describe('a validation', () => {
  it('has an answer with the number of routers that its filter selects, and a result for each', async () => {
    for (const [filter, names] of [
      ['', ['east', 'west']],
      ['true limit none', ['east', 'west']],
      ['name = "west"', ['west']],
      [`id = "${routers['east']}"`, ['east']],
      ['true sort by name desc limit 1', ['west']],
      ['name = "nobody"', []],
    ] as const) {
      const { success, count } = await linksAnswer(reader, filter);
      assert.deepEqual([success, Number(count)], [true, names.length], filter);
      const frames = await results(names.length, contentType.validateRouterLinksResult);
      const found = frames.map(({ body }) => mgmtMessages.validateRouterLinksResult.decode(body).routerName);
      assert.deepEqual(found, names, filter);
    }
  });

  it('compares what its request is about', async () => {
    asked.length = 0;
    for (const [comparison, name] of [
      ['sdkTerminators', 'validateSdkTerminators'],
      ['tunnelTerminators', 'validateTunnelTerminators'],
      ['circuits', 'validateCircuits'],
      ['connections', 'validateConnections'],
    ] as const) {
      const body = mgmtMessages[`${name}Request`].encode({ filter: 'name = "east"' });
      const answer = await reader.ask(contentType[`${name}Request`], body);
      assert.equal(answer.contentType, contentType[`${name}Response`]);
      await results(1, contentType[`${name}Result`]);
      assert.equal(asked.pop(), `${comparison} east`);
    }
  });

  it('of data models includes that of the control plane where it is requested, and mends those of routers', async () => {
    const { validateDataModelRequest: request, validateDataModelResponse: response } = mgmtMessages;
    for (const [validateCtrl, fix] of [
      [true, false],
      [false, true],
    ] as const) {
      asked.length = 0;
      const wish = request.encode({ routerFilter: 'name = "west"', validateCtrl, fix });
      const answer = await reader.ask(request.contentType, wish);
      const count = validateCtrl ? 2 : 1;
      assert.equal(Number(response.decode(answer.body).count), count);
      const frames = await results(count, contentType.validateDataModelResult);
      const types = frames.map(({ body }) => mgmtMessages.validateDataModelResult.decode(body).componentType);
      assert.deepEqual(types, validateCtrl ? ['controller', ''] : ['']);
      assert.deepEqual(asked, [`west ${fix}`]);
    }
  });

  it('of terminators selects them by their fields and by the names of their service and router', async () => {
    const made: Record<string, string> = {};
    for (const name of ['web', 'mail']) {
      const service = await api.make('services', { name });
      const place = { service, router: routers[name === 'web' ? 'east' : 'west'], binding: 'transport' };
      made[name] = await api.make('terminators', { ...place, address: 'tcp:127.0.0.1:80' });
    }
    await until(
      'the terminators in the model',
      () => Object.values(made).every((id) => api.model.fabricTerminator(id) !== undefined),
      Boolean,
    );
    const { validateTerminatorsRequest: request, validateTerminatorsResponse: response } = mgmtMessages;
    for (const [filter, names] of [
      ['', ['mail', 'web']],
      ['service.name = "web"', ['web']],
      ['router.name = "west"', ['mail']],
      [`router = "${routers['east']}" and binding = "transport"`, ['web']],
    ] as const) {
      const answer = await reader.ask(request.contentType, request.encode({ filter, fixInvalid: true }));
      const { success, terminatorCount } = response.decode(answer.body);
      assert.deepEqual([success, Number(terminatorCount)], [true, names.length], filter);
      const frames = await results(names.length, contentType.validateTerminatorsResult);
      const found = frames.map(({ body }) => mgmtMessages.validateTerminatorsResult.decode(body));
      const ids = new Set(names.map((name) => made[name]));
      assert.deepEqual(new Set(found.map((it) => it.terminatorId)), ids, filter);
      assert.ok(found.every(({ fixed }) => fixed));
    }
  });

  it('with a filter that cannot be read is refused with the reason', async () => {
    for (const filter of ['nothing = ', 'color = "red"', 'service.name = "web"']) {
      const { success, message, count } = await linksAnswer(reader, filter);
      assert.deepEqual([success, Number(count)], [false, 0], filter);
      assert.match(message, /^ctrl: ./, filter);
    }
    assert.equal((await linksAnswer(reader, '')).success, true);
    await results(2, contentType.validateRouterLinksResult);
  });

  it('is refused while four others run, and ends when its reader is gone', async () => {
    const waiting: (() => void)[] = [];
    const { validation } = api.diagnostics;
    api.diagnostics.validation = {
      ...validation,
      compareRouter: async (comparison, router) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return validation.compareRouter(comparison, router);
      },
    };
    const others = await Promise.all(
      Array.from({ length: 4 }, () => FabricStreamReader.open(api, { 'zt-session': token })),
    );
    const answers = await Promise.all([...others, reader].map((each) => linksAnswer(each, '')));
    const refused = answers.filter(({ success }) => !success).map(({ message }) => message);
    assert.deepEqual(refused, ['ctrl: other validations are running']);
    await until(
      'all routers asked',
      () => waiting.length,
      (count) => count === 8,
    );
    for (const each of [...others, reader]) each.socket.terminate();
    for (const answer of waiting) answer();
    api.diagnostics.validation = validation;
    let room = await FabricStreamReader.open(api, { 'zt-session': token });
    await until(
      'room',
      async () => {
        const { success } = await linksAnswer(room, 'false');
        room.socket.terminate();
        if (!success) room = await FabricStreamReader.open(api, { 'zt-session': token });
        return success;
      },
      Boolean,
    );
  });

  it('that is malformed ends the connection', async () => {
    const other = await FabricStreamReader.open(api, { 'zt-session': token });
    other.send(contentType.validateCircuitsRequest, new Uint8Array([0xff, 0xff]));
    await other.closed();
  });
});
