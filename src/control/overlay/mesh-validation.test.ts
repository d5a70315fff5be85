// `ziti fabric validate` at this controller, with scripted routers.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Frame } from '#wire';
import { ctrlMessages, mgmtMessages, TerminatorInvalidReason, TerminatorState } from '#wire/ctrl';
import type { FabricValidation } from './model/fabric-validation.ts';
import { ScriptedMesh } from './testing/scripted-mesh.ts';

let mesh: ScriptedMesh;
afterEach(() => mesh.close());

const { validateRouterLinksResult, validateDataModelResult, validateTerminatorsResult } = mgmtMessages;
const { inspectRequest, inspectResponse, validateDataState, validateTerminatorsV2 } = ctrlMessages;

async function open(): Promise<FabricValidation> {
  mesh = await ScriptedMesh.open(['a', 'b']);
  return mesh.world.controller.fabric.validation;
}

const named = (id: string) => ({ id, name: `name-${id}` });

/** Answers the next inspection of the router. */
async function answerInspection(id: string, values: Readonly<Record<string, unknown>>): Promise<string[]> {
  const frame = await mesh.router(id).frame(inspectRequest.contentType);
  const texts = Object.entries(values).map(([name, value]) => ({ name, value: JSON.stringify(value) }));
  mesh.router(id).channel.reply(frame, inspectResponse.frame({ success: true, values: texts }));
  return inspectRequest.decode(frame.body).requestedValues;
}

test('the links of a router are compared with those that the controller knows', async () => {
  const validation = await open();
  await mesh.link('a-b', 1);
  const result = validation.compareRouter('links', named('a'));
  const links = [{ id: 'a-b', dest: 'b', dialed: true, connections: [] }];
  assert.deepEqual(await answerInspection('a', { links: { links } }), ['links']);
  const { routerId, routerName, validateSuccess, message, linkDetails } = validateRouterLinksResult.decode(
    (await result).body,
  );
  assert.deepEqual([routerId, routerName, validateSuccess, message], ['a', 'name-a', true, '']);
  assert.deepEqual(
    linkDetails.map(({ linkId, isValid }) => [linkId, isValid]),
    [['a-b', true]],
  );
});

test('a router that is away, answers nothing or in another form is an error in its result', async () => {
  const validation = await open();
  const messageOf = async (result: Promise<Frame>): Promise<string> => {
    const { validateSuccess, message } = validateRouterLinksResult.decode((await result).body);
    assert.equal(validateSuccess, false);
    return message;
  };
  assert.equal(await messageOf(validation.compareRouter('links', named('c'))), 'router not connected');
  const answered = validation.compareRouter('links', named('a'));
  await answerInspection('a', { links: [1] });
  assert.equal(await messageOf(answered), 'the router did not report it');
  const cut = validation.compareRouter('circuits', named('a'));
  await mesh.router('a').frame(inspectRequest.contentType);
  mesh.router('a').channel.close('away');
  assert.notEqual(await messageOf(cut), '');
  const { errors } = mgmtMessages.validateConnectionsResult.decode(
    (await validation.compareRouter('connections', named('c'))).body,
  );
  assert.deepEqual(errors, ['router not connected']);
});

test('the circuits of a router are compared with those whose path it is on', async () => {
  const validation = await open();
  mesh.service('svc');
  mesh.terminator('t', 'a');
  const [route] = await mesh.circuit(['a']);
  for (const id of ['a', 'b']) {
    const result = validation.compareRouter('circuits', named(id));
    const names = await answerInspection(id, { 'router-circuits': { circuits: {} } });
    assert.deepEqual(names, ['router-circuits', 'router-edge-circuits', 'router-sdk-circuits']);
    const { details } = mgmtMessages.validateCircuitsResult.decode((await result).body);
    const missing = Object.entries(details).map(([circuit, it]) => [circuit, it.missingInForwarder]);
    assert.deepEqual(missing, id === 'a' ? [[route!.circuitId, true]] : []);
  }
});

test('the data model of a router is compared by the router with the whole one of the controller', async () => {
  const validation = await open();
  await mesh.world.addIdentity('env', 'environment');
  await mesh.world.addService('share', 'env');
  const result = validation.compareDataModel(named('a'), true);
  const frame = await mesh.router('a').frame(validateDataState.contentType);
  const { state, fix } = validateDataState.decode(frame.body);
  assert.equal(fix, true);
  const kinds = state!.events.map(({ model }) => model.case);
  for (const kind of ['identity', 'service', 'servicePolicy', 'publicKey'] as const)
    assert.ok(kinds.includes(kind), kind);
  const diffs = [{ entityType: 'service', entityId: 'share', diffType: 'sub', detail: 'entity missing' }];
  mesh.router('a').channel.reply(frame, ctrlMessages.validateDataStateResponse.frame({ diffs }));
  const { componentType, componentName, validateSuccess, errors } = validateDataModelResult.decode(
    (await result).body,
  );
  assert.deepEqual([componentType, componentName, validateSuccess], ['router', 'name-a', false]);
  assert.deepEqual(errors, ['service id: share sub: entity missing']);
  const own = validateDataModelResult.decode(validation.ownDataModel().body);
  assert.deepEqual([own.componentType, own.componentId, own.validateSuccess], ['controller', 'ctrl1', true]);
});

test('terminators are judged by their routers; those of hosts that are invalid go with fix, those of an operator stay', async () => {
  const validation = await open();
  await mesh.world.addIdentity('env', 'environment');
  await mesh.world.addService('share', 'env');
  const { UNKNOWN_TERMINATOR, BAD_STATE } = TerminatorInvalidReason;
  const id = 'hosted';
  await mesh.world.bind(mesh.router('a'), 'env', 'share', id);
  mesh.service('svc');
  mesh.terminator('managed', 'a');
  mesh.terminator('away', 'elsewhere');
  const results = (async () => {
    const found = [];
    for await (const { body } of validation.validateTerminators([id, 'managed', 'away', 'gone'], true))
      found.push(validateTerminatorsResult.decode(body));
    return found;
  })();
  const frame = await mesh.router('a').frame(validateTerminatorsV2.contentType);
  const { terminators, fixInvalid } = validateTerminatorsV2.decode(frame.body);
  assert.deepEqual([terminators.map((it) => it.id), fixInvalid], [[id, 'managed'], true]);
  const [hostedMarker, managedMarker] = terminators.map(({ marker }) => marker);
  const states = {
    [id]: { valid: false, marker: hostedMarker!, reason: UNKNOWN_TERMINATOR, detail: 'unknown here' },
    managed: { valid: false, marker: managedMarker!, reason: BAD_STATE, detail: 'no connection' },
  };
  mesh.router('a').channel.reply(frame, ctrlMessages.validateTerminatorsV2Response.frame({ states }));
  assert.deepEqual(
    (await results).map(({ terminatorId, state, fixed, detail }) => [terminatorId, state, fixed, detail]),
    [
      [id, TerminatorState.InvalidUnknownTerminator, true, 'unknown here'],
      ['managed', TerminatorState.InvalidBadState, false, 'no connection'],
      ['away', TerminatorState.Unknown, false, 'router off-line'],
      ['gone', TerminatorState.Unknown, false, 'the terminator was deleted in the meantime'],
    ],
  );
  const left = mesh.world.controller.fabric.terminators().map((it) => it.id);
  assert.deepEqual(left.sort(), ['away', 'managed']);
});
