// SDKs that log in with OIDC, at the edge listener of a router: what a controller's tokens and data model permit, and
// what ends when these change.
import assert from 'node:assert/strict';
import { randomUUID, X509Certificate } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { fingerprintOf } from '#net/channel';
import { contentType, HeaderWriter, headerId, makeFrame, RESULT_TYPE, textOfBody, type Frame } from '#wire';
import { encodeCircuitCreated } from '#wire/circuits';
import { CreateTerminatorResult, ctrlMessages, DataState_Action, sdkMessages } from '#wire/ctrl';
import { lineOf } from '../support/recording-log.ts';
import { keptLog, RouterStage } from '../support/router-stage.ts';
import {
  eventsOf,
  grantChanges,
  identityChange,
  policyChange,
  relationChange,
  serviceChange,
  TokenSigner,
  type Claims,
  type DataModelChange,
} from '../support/token-signer.ts';
import { until } from '../support/deadline.ts';
import { edgeHelloHeaders, WirePeer } from '../support/wire-peer.ts';

const { channel: channelHeaders, edge } = headerId;
/** Time within which a change takes effect. */
const CUT_MS = 5_000;
/** Life that is left to a token that expires in a test; the tolerance of clocks is part of it. */
const TOKEN_LEFT_MS = 6_000;
const CIRCUIT = { circuitId: 'c1', address: 'c1-in', peerData: new Map(), tags: new Map() };

/** A router whose controller grants `identity-1` to dial and host `service-1`. Hellos wait `lookup` for their session. */
async function open(t: TestContext, lookup = '10ms') {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const { log, lines } = keptLog();
  const sections = {
    edge: { csr: { sans: { dns: ['localhost'] } } },
    listeners: [
      {
        binding: 'edge',
        address: 'tls:127.0.0.1:0',
        options: { advertise: 'localhost:1', lookupApiSessionTimeout: lookup },
      },
    ],
  };
  const router = await stage.start([controller], sections, { log });
  await controller.next('subscribeToDataModel');
  const signer = await TokenSigner.make(stage.authority);
  const events = eventsOf([
    signer.publicKey,
    identityChange('identity-1'),
    serviceChange('service-1'),
    ...grantChanges('dial', 'Dial', 'identity-1', 'service-1'),
    ...grantChanges('bind', 'Bind', 'identity-1', 'service-1'),
  ]);
  controller.send(ctrlMessages.dataState.frame({ events, endIndex: 5n, timelineId: 'line' }));
  await until(
    'the data model',
    () => lines.some(({ message }) => message === 'data model received'),
    Boolean,
  );
  let index = 5n;
  return {
    controller,
    signer,
    lines,
    change: (changes: readonly DataModelChange[], action?: DataState_Action): void => {
      index += 1n;
      controller.send(ctrlMessages.dataStateChangeSet.frame({ index, changes: eventsOf(changes, action) }));
    },
    /** A connection of a client with a certificate of its own. */
    connect: async () => {
      const credentials = await stage.authority.issue('sdk');
      const again = async (): Promise<WirePeer> => {
        const peer = await WirePeer.open({ port: router.edgePort, alpn: 'ziti-edge', credentials });
        stage.onClose(() => peer.close());
        return peer;
      };
      const fingerprint = fingerprintOf(new X509Certificate(credentials.cert));
      return { peer: await again(), again, fingerprint };
    },
  };
}

type Edge = Awaited<ReturnType<typeof open>>;

/** A channel with a session of `identity-1`. */
async function openChannel(world: Edge, claims: Claims = {}) {
  const { peer, fingerprint } = await world.connect();
  const token = await world.signer.access(fingerprint, claims);
  const answer = await peer.hello('sdk', edgeHelloHeaders(token));
  assert.ok(answer !== undefined, 'the hello is answered');
  assert.equal(answer.headers.bool(channelHeaders.resultSuccess), true, textOfBody(answer));
  return { peer, fingerprint, token };
}

/** A channel with a session of `identity-1` that the controller announces, as for SDKs that log in without OIDC. */
async function openAnnouncedChannel(world: Edge): Promise<WirePeer> {
  const { peer, fingerprint } = await world.connect();
  const session = { token: 'api-session', id: 'session-1', identityId: 'identity-1' };
  const apiSessions = [{ ...session, certFingerprints: [fingerprint] }];
  world.controller.send(ctrlMessages.apiSessionAdded.frame({ apiSessions }));
  const answer = await peer.hello('sdk', edgeHelloHeaders(session.token));
  assert.equal(answer?.headers.bool(channelHeaders.resultSuccess), true);
  return peer;
}

/** Sends a Connect or Bind, with a token of the signer unless one is given; the controller accepts it. */
async function openConnection(
  world: Edge,
  peer: WirePeer,
  type: 'Dial' | 'Bind',
  connId: number,
  serviceToken?: string,
): Promise<void> {
  const headers = new HeaderWriter().u32(edge.connId, connId).bool(edge.useXgressToSdk, true);
  const body = serviceToken ?? (await world.signer.service(type));
  const request = type === 'Dial' ? contentType.connect : contentType.bind;
  const answering = peer.ask(makeFrame(request, { headers, body }));
  if (type === 'Dial') {
    const asked = await world.controller.frame(contentType.createCircuitV2);
    assert.equal(asked.headers.text(headerId.createCircuit.sessionToken), body);
    world.controller.send(encodeCircuitCreated(asked, CIRCUIT));
  } else {
    const { terminatorId } = await acceptTerminator(world);
    assert.notEqual(terminatorId, '');
  }
  assert.equal((await answering).contentType, contentType.stateConnected);
}

async function acceptTerminator({ controller }: Edge) {
  const { address: terminatorId } = await controller.next('createTerminatorV2');
  const result = CreateTerminatorResult.SUCCESS;
  controller.send(ctrlMessages.createTerminatorV2Response.frame({ terminatorId, result }));
  return { terminatorId };
}

test('an SDK with a token of the controller dials and hosts what the policies grant', async (t) => {
  const world = await open(t);
  const { peer, token } = await openChannel(world);
  await openConnection(world, peer, 'Bind', 1);
  const headers = new HeaderWriter().u32(edge.connId, 2);
  const body = await world.signer.service('Dial');
  const answering = peer.ask(makeFrame(contentType.connect, { headers, body }));
  const asked = await world.controller.frame(contentType.createCircuitV2);
  assert.equal(asked.headers.text(headerId.createCircuit.apiSessionToken), token);
  world.controller.send(encodeCircuitCreated(asked, CIRCUIT));
  assert.equal((await answering).contentType, contentType.stateConnected);
});

test('a dial or bind that no policy grants is refused with that reason, and no controller is asked', async (t) => {
  const world = await open(t);
  const { peer } = await openChannel(world);
  world.change([policyChange('dial', 'Dial'), policyChange('bind', 'Bind')], DataState_Action.DELETE);
  await until(
    'the change',
    async () => {
      const headers = new HeaderWriter().u32(edge.connId, 1);
      const body = await world.signer.service('Bind');
      const answer = await peer.ask(makeFrame(contentType.bind, { headers, body }));
      return `${answer.contentType} ${textOfBody(answer)}`;
    },
    (answer) => answer === `${contentType.stateClosed} no policies provide access`,
  );
  const headers = new HeaderWriter().u32(edge.connId, 2);
  const body = await world.signer.service('Dial');
  const answer = await peer.ask(makeFrame(contentType.connect, { headers, body }));
  assert.equal(answer.contentType, contentType.stateClosed);
  assert.equal(textOfBody(answer), 'no policies provide access');
  assert.deepEqual(
    world.controller.frames.filter((frame) => frame.contentType === contentType.createCircuitV2),
    [],
  );
});

test('a bad token is refused as an invalid session, with one log line that holds nothing of it', async (t) => {
  const world = await open(t);
  const nowS = Math.floor(Date.now() / 1_000);
  const bad: [Claims, Claims, string][] = [
    [{ exp: nowS - 3_600 }, {}, 'the token has expired'],
    [{ nbf: nowS + 3_600 }, {}, 'the token is not valid yet'],
    [{ aud: ['elsewhere'] }, {}, 'the token is for another audience'],
    [{ iss: 'https://elsewhere.example/oidc' }, {}, 'the token has another issuer'],
    [{ sub: 'identity-9' }, {}, 'there is no identity as the token names it'],
    [{}, { kid: 'made up' }, 'the token is signed by an unknown key'],
    [{ z_cfs: ['00'] }, {}, 'certificate is not that of session session-1'],
  ];
  for (const [claims, header, reason] of bad) {
    const { peer, fingerprint } = await world.connect();
    const from = world.lines.length;
    const token = await world.signer.access(fingerprint, claims, header);
    const answer = await peer.hello('sdk', edgeHelloHeaders(token));
    assert.equal(answer?.contentType, RESULT_TYPE);
    assert.equal(answer.headers.bool(channelHeaders.resultSuccess), false);
    const isOfAnother = 'z_cfs' in claims;
    assert.match(
      textOfBody(answer),
      isOfAnother ? /^not authorized: the session belongs/ : /^invalid session$/,
    );
    await peer.closed();
    const lines = world.lines.slice(from).filter(({ level }) => level !== 'debug');
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields['reason']]),
      [['channel refused', reason]],
    );
    const written = world.lines.slice(from).map(lineOf).join('\n');
    for (const part of token.split('.'))
      assert.ok(!written.includes(part), `${reason}: no part of the token`);
  }
});

async function closedText(peer: WirePeer, connId: number): Promise<string> {
  const isIt = (frame: Frame): boolean =>
    frame.contentType === contentType.stateClosed && frame.headers.u32(edge.connId) === connId;
  await peer.until('a StateClosed', () => peer.frames.some(isIt), CUT_MS);
  return textOfBody(peer.frames.find(isIt)!);
}

test('a policy that ends closes the circuits and binds that it granted, and the channel stays', async (t) => {
  const world = await open(t);
  const { peer } = await openChannel(world);
  await openConnection(world, peer, 'Bind', 1);
  await openConnection(world, peer, 'Dial', 2);
  world.change([policyChange('dial', 'Dial')], DataState_Action.DELETE);
  assert.equal(await closedText(peer, 2), 'no policies provide access');
  assert.equal((await world.controller.next('fault')).id, CIRCUIT.circuitId);
  world.change([policyChange('bind', 'Bind')], DataState_Action.DELETE);
  assert.equal(await closedText(peer, 1), 'no policies provide access');
  assert.equal((await world.controller.next('removeTerminators')).terminatorIds.length, 1);
  assert.equal(peer.isClosed, false);
});

test('a policy with a posture check grants while the device passes it, and its circuits end when it does not', async (t) => {
  const world = await open(t);
  const { peer, fingerprint } = await openChannel(world);
  const mac = { case: 'mac' as const, value: { macAddresses: ['00aa'] } };
  const mfa = { case: 'mfa' as const, value: { timeoutSeconds: -1n } };
  world.change([
    { case: 'postureCheck', value: { id: 'mac', name: 'mac', subtype: mac } },
    { case: 'postureCheck', value: { id: 'mfa', name: 'mfa', subtype: mfa } },
    relationChange('dial', 'postureCheck', ['mac', 'mfa']),
  ]);
  const report = async (address: string, session = 'session-1', type = 't'): Promise<void> => {
    const token = await world.signer.access(fingerprint, { z_asid: session, z_t: type, exp: undefined });
    const responses = [
      { type: { case: 'macs' as const, value: { addresses: [address] } } },
      { type: { case: 'totpToken' as const, value: { token } } },
    ];
    peer.send(sdkMessages.postureResponse.frame({ responses }));
  };
  let connId = 1;
  /** Dials until the refusal matches, or until the controller is asked for the circuit. */
  const dialed = (refusal?: RegExp): Promise<unknown> =>
    until(
      `a dial that is ${refusal === undefined ? 'granted' : `refused: ${refusal.source}`}`,
      async () => {
        connId += 1;
        const headers = new HeaderWriter().u32(edge.connId, connId).bool(edge.useXgressToSdk, true);
        const body = await world.signer.service('Dial');
        const answering = peer.ask(makeFrame(contentType.connect, { headers, body }));
        if (refusal !== undefined) return refusal.test(textOfBody(await answering));
        const isAsked = ({ contentType: type }: Frame): boolean => type === contentType.createCircuitV2;
        await Promise.race([
          answering,
          until('a request', () => world.controller.frames.some(isAsked), Boolean, CUT_MS).catch(() => {}),
        ]);
        if (!world.controller.frames.some(isAsked)) return false;
        world.controller.send(
          encodeCircuitCreated(await world.controller.frame(contentType.createCircuitV2), CIRCUIT),
        );
        return (await answering).contentType === contentType.stateConnected;
      },
      Boolean,
    );
  await dialed(/posture check mac \[mac\]: the device has reported no MAC address/);
  await report('00aa', 'session-2');
  await dialed(/posture check mfa \[mfa\]: no one-time password was entered/);
  await report('00aa', 'session-1', 'a');
  await dialed(/posture check mfa \[mfa\]: no one-time password was entered/);
  await report('00aa');
  await dialed();
  await report('00bb');
  assert.match(
    await closedText(peer, connId),
    /posture check mac \[mac\]: no MAC address is one of the check/,
  );
  assert.equal(peer.isClosed, false);
});

test('circuits and binds end with their service session, and those of other sessions stay', async (t) => {
  const world = await open(t, '30s');
  const peer = await openAnnouncedChannel(world);
  await openConnection(world, peer, 'Bind', 1, 'bind-session');
  await openConnection(world, peer, 'Dial', 2, 'dial-session');
  const end = (token: string): void =>
    world.controller.send(ctrlMessages.sessionRemoved.frame({ tokens: ['of-another-sdk', token] }));
  end('dial-session');
  assert.equal(await closedText(peer, 2), 'the service session has ended');
  assert.equal((await world.controller.next('fault')).id, CIRCUIT.circuitId);
  const isOfBind = ({ contentType: type, headers }: Frame): boolean =>
    type === contentType.stateClosed && headers.u32(edge.connId) === 1;
  assert.equal(peer.frames.some(isOfBind), false);
  end('bind-session');
  assert.equal(await closedText(peer, 1), 'the service session has ended');
  assert.equal((await world.controller.next('removeTerminators')).terminatorIds.length, 1);
  assert.equal(peer.isClosed, false);
});

test('a channel ends when its session is revoked, its identity is deleted, or its token expires', async (t) => {
  const world = await open(t);
  const revocation = { case: 'revocation', value: { id: 'session-2', type: 'API_SESSION' } } as const;
  const endings: [Claims, () => void, string][] = [
    [{ z_asid: 'session-2' }, () => world.change([revocation]), 'the session is revoked'],
    [{ exp: Math.floor(Date.now() / 1_000) - 4 }, () => {}, 'the token has expired'],
    [
      {},
      () => world.change([identityChange('identity-1')], DataState_Action.DELETE),
      'there is no identity as the token names it',
    ],
  ];
  for (const [claims, end, reason] of endings) {
    const { peer } = await openChannel(world, claims);
    end();
    await peer.closed(CUT_MS + TOKEN_LEFT_MS);
    const line = world.lines.findLast(({ message }) => message === 'API session ended');
    assert.equal(line?.fields['reason'], reason);
  }
});

test('a token is replaced by a newer one of its session, which controllers get from then on', async (t) => {
  const world = await open(t);
  const soonS = Math.floor(Date.now() / 1_000) - 4;
  const { peer, fingerprint } = await openChannel(world, { exp: soonS });
  const update = async (claims: Claims): Promise<[Frame, string]> => {
    const body = await world.signer.access(fingerprint, claims);
    return [await peer.ask(makeFrame(contentType.updateToken, { body })), body];
  };
  const refused: [Claims, string][] = [
    [{ z_asid: 'session-2' }, 'the token is of another session'],
    [{ z_cfs: ['00'] }, 'the token is of another certificate'],
    [{ aud: ['elsewhere'] }, 'the token is for another audience'],
  ];
  for (const [claims, fault] of refused) {
    const [answer] = await update(claims);
    assert.equal(answer.contentType, contentType.updateTokenFailure);
    assert.equal(textOfBody(answer), fault);
  }
  const [answer, token] = await update({});
  assert.equal(answer.contentType, contentType.updateTokenSuccess);
  // The first token expires in the meantime.
  await until(
    'its end',
    () => Date.now(),
    (nowMs) => nowMs > (soonS + 12) * 1_000,
  );
  const headers = new HeaderWriter().u32(edge.connId, 2);
  const body = await world.signer.service('Dial');
  peer.send(makeFrame(contentType.connect, { headers, body }));
  const asked = await world.controller.frame(contentType.createCircuitV2);
  assert.equal(asked.headers.text(headerId.createCircuit.apiSessionToken), token);
});

test('a connection joins a channel with the token that replaced the first one, and with no other', async (t) => {
  const world = await open(t);
  const { peer, again, fingerprint } = await world.connect();
  const id = randomUUID();
  const hello = async (by: WirePeer, token: string, secret?: Uint8Array): Promise<Frame | undefined> => {
    const headers = new HeaderWriter().copy(edgeHelloHeaders(token)).text(channelHeaders.connectionId, id);
    headers.text(channelHeaders.type, 'edge.default').bool(channelHeaders.isGrouped, true);
    if (secret === undefined) headers.bool(channelHeaders.isFirstGroupConnection, true);
    else headers.bytes(channelHeaders.groupSecret, secret);
    return by.hello('sdk', headers.build());
  };
  const answer = await hello(peer, await world.signer.access(fingerprint));
  const secret = answer?.headers.bytes(channelHeaders.groupSecret);
  assert.ok(secret !== undefined, 'the group has a secret');
  const token = await world.signer.access(fingerprint);
  assert.equal(await hello(await again(), token, secret), undefined);
  const update = makeFrame(contentType.updateToken, { body: token });
  assert.equal((await peer.ask(update)).contentType, contentType.updateTokenSuccess);
  const joined = await hello(await again(), token, secret);
  assert.equal(joined?.headers.bool(channelHeaders.resultSuccess), true);
});
