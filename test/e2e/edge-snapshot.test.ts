// A router that starts while no controller answers: what it serves from the data model of `edge.db`, and what it refuses.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fingerprintOf } from '#net/channel';
import { contentType, HeaderWriter, headerId, makeFrame, textOfBody, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { makeTestAuthority } from '../support/certificates.ts';
import { until } from '../support/deadline.ts';
import { keptLog, RouterStage } from '../support/router-stage.ts';
import {
  eventsOf,
  grantChanges,
  identityChange,
  serviceChange,
  TokenSigner,
} from '../support/token-signer.ts';
import { edgeHelloHeaders, WirePeer } from '../support/wire-peer.ts';

const { channel, edge } = headerId;

test('sessions and policies are judged by edge.db; what needs a controller is refused with that reason', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const { log, lines } = keptLog();
  const options = { advertise: 'localhost:1', lookupApiSessionTimeout: '10ms' };
  const sections = {
    edge: { db: join(stage.folder, 'edge.db'), csr: { sans: { dns: ['localhost'] } } },
    listeners: [{ binding: 'edge', address: 'tls:127.0.0.1:0', options }],
  };
  const first = await stage.start([controller], sections, { log });
  await controller.next('subscribeToDataModel');
  const signer = await TokenSigner.make(stage.authority);
  const events = eventsOf([
    signer.publicKey,
    identityChange('identity-1'),
    serviceChange('service-1'),
    ...grantChanges('dial', 'Dial', 'identity-1', 'service-1'),
  ]);
  controller.send(ctrlMessages.dataState.frame({ events, endIndex: 5n, timelineId: 'line' }));
  await until(
    'the data model',
    () => lines.some(({ message }) => message === 'data model received'),
    Boolean,
  );
  await first.close();
  await controller.close();

  const second = await stage.start([controller], sections);
  const credentials = await stage.authority.issue('sdk');
  const connect = async (token: string): Promise<readonly [WirePeer, Frame | undefined]> => {
    const peer = await WirePeer.open({ port: second.edgePort, alpn: 'ziti-edge', credentials });
    stage.onClose(() => peer.close());
    return [peer, await peer.hello('sdk', edgeHelloHeaders(token))];
  };
  const fingerprint = fingerprintOf(new X509Certificate(credentials.cert));
  const [peer, accepted] = await connect(await signer.access(fingerprint));
  assert.equal(accepted?.headers.bool(channel.resultSuccess), true, 'a token that the model proves');
  const ask = async (request: number, connId: number, body: string): Promise<string> => {
    const headers = new HeaderWriter().u32(edge.connId, connId);
    const answer = await peer.ask(makeFrame(request, { headers, body }));
    return `${answer.contentType} ${textOfBody(answer)}`;
  };
  const closed = (reason: string): string => `${contentType.stateClosed} ${reason}`;
  const dial = await ask(contentType.connect, 1, await signer.service('Dial'));
  assert.equal(dial, closed('the router has no controller now'));
  const bind = await ask(contentType.bind, 2, await signer.service('Bind'));
  assert.equal(bind, closed('no policies provide access'));
  const [, refused] = await connect('a session that only a controller could announce');
  assert.equal(refused?.headers.bool(channel.resultSuccess), false);
});

test('an edge.db of another network grants what it did until a controller answers, whose model ends all of it', async (t) => {
  const stage = await RouterStage.open(t);
  const [foreign, signer] = [
    await TokenSigner.make(await makeTestAuthority()),
    await TokenSigner.make(stage.authority),
  ];
  const path = join(stage.folder, 'edge.db');
  const state = (key: TokenSigner, identityId: string, timelineId: string, endIndex: bigint) => ({
    timelineId,
    endIndex,
    events: eventsOf([
      key.publicKey,
      identityChange(identityId),
      serviceChange('service-1'),
      ...grantChanges('dial', 'Dial', identityId, 'service-1'),
    ]),
  });
  // The index is higher than that of the controller.
  const theirs = ctrlMessages.dataState.encode(state(foreign, 'identity-1', 'theirs', 900n));
  writeFileSync(path, gzipSync(theirs), { mode: 0o600 });
  const controller = await stage.controller();
  const options = { advertise: 'localhost:1', lookupApiSessionTimeout: '10ms' };
  const router = await stage.start([controller], {
    edge: { db: path, csr: { sans: { dns: ['localhost'] } } },
    listeners: [{ binding: 'edge', address: 'tls:127.0.0.1:0', options }],
  });
  const credentials = await stage.authority.issue('sdk');
  const fingerprint = fingerprintOf(new X509Certificate(credentials.cert));
  const connect = async (token: string): Promise<readonly [WirePeer, boolean]> => {
    const peer = await WirePeer.open({ port: router.edgePort, alpn: 'ziti-edge', credentials });
    stage.onClose(() => peer.close());
    const answer = await peer.hello('sdk', edgeHelloHeaders(token));
    return [peer, answer?.headers.bool(channel.resultSuccess) === true];
  };
  const [before, isAccepted] = await connect(await foreign.access(fingerprint));
  const { timelineId } = await controller.next('subscribeToDataModel');
  assert.deepEqual([isAccepted, timelineId], [true, 'theirs']);
  controller.send(ctrlMessages.dataState.frame(state(signer, 'identity-2', 'ours', 5n)));
  await before.closed(30_000);
  const [, isForeign] = await connect(await foreign.access(fingerprint));
  assert.equal(isForeign, false);
  const [, isOwn] = await connect(await signer.access(fingerprint, { sub: 'identity-2' }));
  assert.equal(isOwn, true);
});
