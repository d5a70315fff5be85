// A router that is in the list but takes no channels (it has lost its controller, say): clients do without it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { enrollRouter, type EnrolledRouter } from '#sdk';
import { contentType, headerId, HeaderWriter, makeFrame, versionHeader } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { startCanary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { WirePeer } from '../support/wire-peer.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let service: FaultyService;
let refusing: Server;
let channel: WirePeer;
let refusals = 0;

before(async () => {
  service = await startHttpService((_request, response) => response.end('fine'));
  world = await openWorld();
  const { token } = await world.up.control.createFabricNode('router', 'refusing');
  const router = await enrollRouter({ jwt: token, hosts: ['localhost'] });
  refusing = await openRefusing(router);
  channel = await announce(router, (refusing.address() as AddressInfo).port);
});

after(async () => {
  channel?.close();
  await world?.close();
  refusing?.close();
  await service?.stop();
});

/** Finishes the TLS handshake, reads the hello and hangs up. */
async function openRefusing(router: EnrolledRouter): Promise<Server> {
  const server = createServer(
    {
      cert: router.serverCertPem,
      key: router.keyPem,
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['ziti-edge'],
    },
    (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        refusals += 1;
        socket.destroy();
      });
    },
  );
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return server;
}

/** A router that answers none of them is dropped, and no client would come to it now. */
function answerHeartbeats(peer: WirePeer): void {
  const { heartbeat, heartbeatResponse } = headerId.channel;
  let seen = 0;
  peer.socket.on('data', () => {
    for (const { headers } of peer.frames.slice(seen)) {
      const beat = headers.bytes(heartbeat);
      if (beat === undefined) continue;
      const answer = new HeaderWriter().bytes(heartbeatResponse, beat.slice()).build();
      peer.send(makeFrame(contentType.heartbeat, { headers: answer }));
    }
    seen = peer.frames.length;
  });
}

async function announce(router: EnrolledRouter, edgePort: number): Promise<WirePeer> {
  const port = Number(world.up.control.ctrlAddress.split(':').at(-1));
  const peer = await WirePeer.open({
    port,
    alpn: 'ziti-ctrl',
    credentials: { cert: router.certPem, key: router.keyPem },
  });
  const version = new HeaderWriter()
    .text(headerId.channel.helloVersion, versionHeader('linux', 'x64'))
    .build();
  answerHeartbeats(peer);
  const answer = await peer.hello(router.id, version);
  assert.equal(answer?.headers.bool(headerId.channel.resultSuccess), true);
  peer.send(
    ctrlMessages.clientHello.frame({
      version: 'v1.7.2',
      hostname: 'localhost',
      protocols: ['tls'],
      protocolPorts: [String(edgePort)],
    }),
  );
  return peer;
}

describe('beside a router that refuses its channels', () => {
  it('an agent hosts its shares, before and after repeated refusals', async () => {
    const agent = await world.startAgent('site');
    const first = await agent.share(service.target, { name: 'first' });
    assert.equal(first.readiness.ready, true, JSON.stringify(first.readiness));
    await using canary = startCanary(world.up.httpPort, 'first.share.localhost', '/', 'fine'.length);
    await until(
      'several refusals',
      () => refusals,
      (count) => count >= 4,
    );
    const second = await agent.share(service.target, { name: 'second' });
    assert.equal(second.readiness.ready, true, JSON.stringify(second.readiness));
    assert.equal((await world.get('second.share.localhost', '/')).status, 200);
    await canary.stop(20);
  });

  it('no program logs in again because of it', () => {
    const logIns = world.records.filter(({ message }) => message === 'edge API: logged in');
    // The gateway's and the agent's.
    assert.equal(logIns.length, 2, JSON.stringify(logIns));
  });
});
