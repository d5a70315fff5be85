// A tunnel listener in a router that is started from its file: what it hosts with the least that the file can say.
import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { textOf } from '#base';
import { contentType, headerId } from '#wire';
import { decodeRouteResult } from '#wire/circuits';
import { CreateTerminatorResult, ctrlMessages, DestType } from '#wire/ctrl';
import { hostChanges } from '../support/hosted-services.ts';
import { RouterStage } from '../support/router-stage.ts';
import type { ScriptedController } from '../support/scripted-controller.ts';
import { eventsOf } from '../support/token-signer.ts';

async function serve(t: TestContext): Promise<number> {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends the data model, and resolves with the id of the terminator that the router creates. */
async function hosted(controller: ScriptedController, port: number): Promise<string> {
  await controller.next('subscribeToDataModel');
  const events = eventsOf(hostChanges('router-1', { web: { protocol: 'tcp', address: '127.0.0.1', port } }));
  controller.send(ctrlMessages.dataState.frame({ events, endIndex: 5n, timelineId: 'line' }));
  const { serviceId, address: terminatorId } = await controller.next('createTunnelTerminatorV2');
  assert.equal(serviceId, 'web');
  const result = CreateTerminatorResult.SUCCESS;
  controller.send(ctrlMessages.createTunnelTerminatorV2Response.frame({ terminatorId, result }));
  return terminatorId;
}

test('a tunnel listener without options or a dialer hosts services, and again under the same ids after a restart', async (t) => {
  const port = await serve(t);
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const sections = {
    edge: { csr: { sans: { dns: ['localhost'] } }, db: join(stage.folder, 'edge.db') },
    listeners: [{ binding: 'tunnel' }],
  };
  const router = await stage.start([controller], sections);
  const terminatorId = await hosted(controller, port);
  controller.send(
    ctrlMessages.route.frame({
      circuitId: 'c1',
      egress: { binding: 'tunnel', address: 'c1-out', destination: terminatorId },
      forwards: [{ srcAddress: 'c1-in', dstAddress: 'c1-out', dstType: DestType.END }],
      timeout: 30_000_000_000n,
    }),
  );
  const { isSuccess, error, peerData } = decodeRouteResult(await controller.frame(contentType.routeResult));
  assert.ok(isSuccess, error);
  assert.equal(textOf(peerData.get(headerId.peerData.terminatorRemoteAddress)!), `127.0.0.1:${port}`);
  await router.close();
  await stage.start([controller], sections);
  assert.equal(await hosted(controller, port), terminatorId);
});
