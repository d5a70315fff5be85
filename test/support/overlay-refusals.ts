/**
 * Refusals on the overlay, each tried once in a world of its own: hellos, binds and dials with stolen, ended and made-up
 * credentials. The log and the organization's audit trail name each refused identity, with the reason.
 */
import assert from 'node:assert/strict';
import { JsonClient } from '#net/http';
import { contentType, HeaderWriter, headerId, makeFrame, textOfBody, type Frame } from '#wire';
import { makeTestAuthority } from './certificates.ts';
import { until } from './deadline.ts';
import { edgeHelloHeaders, WirePeer, type WireCredentials } from './wire-peer.ts';
import { openWorld, type World, type WorldIdentity } from './world.ts';

const { edge } = headerId;
/** Equal refusals that come close together are written ten seconds later. */
const MAX_TRAIL_MS = 30_000;
const LOOK_MS = 200;

interface Case {
  readonly name: string;
  readonly action: string;
  readonly reason: string;
  /** Id of the identity that the event names; undefined: no identity is proven. */
  readonly actor: () => string | undefined;
  /** The event is in the installation's audit trail, also where the organization is no longer known. */
  readonly isInstallation?: true;
  /** Returns the reason that was sent to the peer, if any. */
  readonly act: () => Promise<string | undefined>;
  readonly sentReason?: RegExp;
}

let world: World;
let api: JsonClient;
let authorization: string;
let attacker: WorldIdentity;
let victim: WorldIdentity;
let gone: WorldIdentity;
let router: WorldIdentity;
let other: WorldIdentity;
let channel: WirePeer;
const sessions: Record<string, string> = {};
let connId = 0;

async function share(name: string, environmentId: string, grants: readonly string[]): Promise<void> {
  const body = {
    name,
    environmentId,
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:1',
    grants,
  };
  const answer = await world.call('POST', '/shares', body);
  assert.equal(answer.status, 201, answer.text);
}

async function session(who: WorldIdentity, service: string, type: 'Dial' | 'Bind'): Promise<string> {
  const { value } = await until(`the service ${service}`, () => who.api.serviceByName(service), Boolean);
  return (await who.api.createSession(value!.id, type)).token;
}

async function open(): Promise<void> {
  world = await openWorld();
  api = new JsonClient({ origin: world.up.control.apiUrl });
  authorization = `Basic ${world.credentials.accountId}:${world.credentials.apiToken}`;
  attacker = await world.enrollEnvironment('attacker');
  victim = await world.enrollEnvironment('victim');
  gone = await world.enrollEnvironment('gone');
  router = await world.enrollRouter('stolen');
  other = await world.enrollRouter('other');
  const both = [attacker.id, victim.id];
  for (const name of ['granted', 'withdrawn', 'deleted']) await share(name, victim.id, both);
  for (const name of ['own', 'own-deleted']) await share(name, attacker.id, both);
  sessions['dial'] = await session(attacker, 'granted', 'Dial');
  sessions['withdrawn'] = await session(attacker, 'withdrawn', 'Dial');
  sessions['deleted'] = await session(attacker, 'deleted', 'Dial');
  sessions['bind'] = await session(attacker, 'own', 'Bind');
  sessions['bind-deleted'] = await session(attacker, 'own-deleted', 'Bind');
  sessions['victim-dial'] = await session(victim, 'granted', 'Dial');
  sessions['victim-bind'] = await session(victim, 'granted', 'Bind');
  assert.equal((await world.call('PATCH', '/shares/withdrawn', { grants: [victim.id] })).status, 200);
  for (const name of ['deleted', 'own-deleted'])
    assert.equal((await world.call('DELETE', `/shares/${name}`)).status, 204);
  assert.equal((await world.call('DELETE', `/environments/${gone.id}`)).status, 204);
  channel = await openPeer(attacker.credentials);
  const answer = await channel.hello(attacker.id, edgeHelloHeaders(attacker.sessionToken));
  assert.equal(answer?.headers.bool(headerId.channel.resultSuccess), true);
}

async function close(): Promise<void> {
  channel?.close();
  await api?.close();
  await world?.close();
}

function openPeer(credentials: WireCredentials, alpn = 'ziti-edge'): Promise<WirePeer> {
  const { edgePort, ctrlPort } = ports();
  return WirePeer.open({ port: alpn === 'ziti-edge' ? edgePort : ctrlPort, alpn, credentials });
}

function ports(): { edgePort: number; ctrlPort: number } {
  const { ctrlAddress } = world.up.control;
  return {
    edgePort: world.up.router.edgePort,
    ctrlPort: Number(ctrlAddress.slice(ctrlAddress.lastIndexOf(':') + 1)),
  };
}

/** Sends a hello to the router; returns the reason that is sent to the peer. */
async function hello(credentials: WireCredentials, token: string): Promise<string> {
  const peer = await openPeer(credentials);
  const headers = token === '' ? new HeaderWriter().build() : edgeHelloHeaders(token);
  return refusalOf(peer, await peer.hello('whoever', headers));
}

/** A hello at the controller. */
async function ctrlHello(credentials: WireCredentials, id: string): Promise<string> {
  const peer = await openPeer(credentials, 'ziti-ctrl');
  return refusalOf(peer, await peer.hello(id, new HeaderWriter().build()));
}

async function refusalOf(peer: WirePeer, answer: Frame | undefined): Promise<string> {
  await peer.closed();
  assert.notEqual(answer?.headers.bool(headerId.channel.resultSuccess), true);
  return answer === undefined ? '' : textOfBody(answer);
}

const dial = async (token: string): Promise<string> => {
  const headers = new HeaderWriter().u32(edge.connId, (connId += 1));
  const answer = await channel.ask(makeFrame(contentType.connect, { headers, body: token }));
  assert.equal(answer.contentType, contentType.stateClosed);
  return textOfBody(answer);
};

const bind = async (token: string): Promise<string> => {
  const bindId = (connId += 1);
  const headers = new HeaderWriter().u32(edge.connId, bindId);
  channel.send(makeFrame(contentType.bind, { headers, body: token }));
  const isRefusal = (frame: Frame): boolean =>
    frame.contentType === contentType.stateClosed && frame.headers.u32(edge.connId) === bindId;
  await channel.until('the refusal of the bind', () => channel.frames.some(isRefusal));
  return textOfBody(channel.frames.find(isRefusal)!);
};

/** A call of the edge API with an identity's certificate; the message of its refusal. */
async function call(
  who: WorldIdentity,
  path: string,
  token?: string,
  method: 'GET' | 'POST' = 'GET',
): Promise<string> {
  const { cert, key } = who.credentials;
  const client = new JsonClient({
    origin: world.up.control.edgeApiUrl,
    ca: who.caPem,
    certPem: cert,
    keyPem: key,
  });
  try {
    const headers = token === undefined ? {} : { 'zt-session': token };
    const answer = await client.request({
      method,
      path,
      headers,
      ...(method === 'POST' ? { body: {} } : {}),
    });
    assert.ok([401, 403].includes(answer.status), answer.text);
    return (answer.json as { error: { message: string } }).error.message;
  } finally {
    await client.close();
  }
}

const isAttacker = () => attacker.id;
const CURRENT = '/edge/client/v1/current-identity';

const CASES: readonly Case[] = [
  ...(
    [
      [
        'a hello without a token',
        'no-session-token',
        () => hello(attacker.credentials, ''),
        /no session token/,
      ],
      [
        'a hello with a made-up token',
        'no-api-session',
        () => hello(attacker.credentials, 'made-up'),
        /^invalid session$/,
      ],
      [
        'a hello with a service session',
        'no-api-session',
        () => hello(attacker.credentials, sessions['dial']!),
        /^invalid session$/,
      ],
      [
        'a hello with a stolen token',
        'api-session-of-another',
        () => hello(attacker.credentials, victim.sessionToken),
        /another certificate/,
      ],
    ] as const
  ).map(([name, reason, act, sentReason]): Case => ({
    name,
    action: 'connect',
    reason,
    actor: isAttacker,
    act,
    sentReason,
  })),
  {
    name: 'a hello of a deleted environment',
    action: 'connect',
    reason: 'no-api-session',
    actor: () => gone.id,
    isInstallation: true,
    act: () => hello(gone.credentials, gone.sessionToken),
  },
  {
    name: 'a hello of a router with a stolen token',
    action: 'connect',
    reason: 'api-session-of-another',
    actor: () => router.id,
    isInstallation: true,
    act: () => hello(router.credentials, victim.sessionToken),
  },
  {
    name: 'a hello with a certificate of another authority',
    action: 'connect',
    reason: 'api-session-of-another',
    actor: () => undefined,
    isInstallation: true,
    act: async () => hello(await (await makeTestAuthority()).issue(attacker.id), attacker.sessionToken),
    sentReason: /^not authorized$/,
  },
  {
    name: 'an environment at the control port',
    action: 'connectRouter',
    reason: 'certificate-of-no-router',
    actor: isAttacker,
    act: () => ctrlHello(attacker.credentials, attacker.id),
    sentReason: /of no router/,
  },
  {
    name: 'a router that goes by the name of another',
    action: 'connectRouter',
    reason: 'certificate-of-another-router',
    actor: () => router.id,
    isInstallation: true,
    act: () => ctrlHello(router.credentials, other.id),
    sentReason: /of another router/,
  },
  ...(
    [
      ['a dial with a made-up session', 'no-service-session', () => dial('made-up')],
      ['a dial with a login token', 'no-service-session', () => dial(attacker.sessionToken)],
      ['a dial with a stolen session', 'service-session-of-another', () => dial(sessions['victim-dial']!)],
      ['a dial with a session for hosting', 'wrong-session-type', () => dial(sessions['bind']!)],
      ['a dial of a share whose grant was withdrawn', 'not-granted', () => dial(sessions['withdrawn']!)],
      ['a dial of a deleted share', 'service-gone', () => dial(sessions['deleted']!)],
      ['a dial of a share that nobody hosts', 'no-terminator', () => dial(sessions['dial']!)],
    ] as const
  ).map(([name, reason, act]): Case => ({
    name,
    action: 'dial',
    reason,
    actor: isAttacker,
    act,
    sentReason: /./,
  })),
  ...(
    [
      ['a bind with a made-up session', 'no-service-session', () => bind('made-up')],
      ['a bind with a login token', 'no-service-session', () => bind(attacker.sessionToken)],
      ['a bind with a stolen session', 'service-session-of-another', () => bind(sessions['victim-bind']!)],
      ['a bind with a session for dialing', 'wrong-session-type', () => bind(sessions['dial']!)],
      ['a bind of a deleted share', 'service-gone', () => bind(sessions['bind-deleted']!)],
    ] as const
  ).map(([name, reason, act]): Case => ({
    name,
    action: 'bind',
    reason,
    actor: isAttacker,
    act,
    sentReason: /./,
  })),
  {
    name: 'a call with a stolen token',
    action: 'GET /current-identity',
    reason: 'api-session-of-another',
    actor: isAttacker,
    act: () => call(attacker, CURRENT, victim.sessionToken),
    sentReason: /belongs to another identity/,
  },
  {
    name: 'a call with a made-up token',
    action: 'GET /current-identity',
    reason: 'no-api-session',
    actor: isAttacker,
    act: () => call(attacker, CURRENT, 'made-up'),
    sentReason: /no such session/,
  },
  {
    name: 'a log-in of a deleted environment',
    action: 'logIn',
    reason: 'the-identity-was-deleted',
    actor: () => gone.id,
    isInstallation: true,
    act: () => call(gone, '/edge/client/v1/authenticate?method=cert', undefined, 'POST'),
    sentReason: /the identity was deleted/,
  },
  {
    name: 'a log-in of a router',
    action: 'logIn',
    reason: 'INVALID_AUTH',
    actor: () => router.id,
    isInstallation: true,
    act: () => call(router, '/edge/client/v1/authenticate?method=cert', undefined, 'POST'),
  },
];

interface Event {
  readonly actor: { readonly id: string | null };
  readonly action: string;
  readonly reason: string;
  readonly occurrences: number;
}

async function refusedEvents(chain: string): Promise<Event[]> {
  const path = `/audit-events?result=refused&size=1000${chain}`;
  const answer = await api.request({ method: 'GET', path, headers: { authorization } });
  return (answer.json as { content: Event[] }).content;
}

export interface RefusalCheck {
  readonly name: string;
  /** Undefined when the case passed. */
  readonly problem: string | undefined;
}

/**
 * Runs the cases in a world of their own. Reports for each whether its peer was sent the expected reason, and
 * whether the audit trail and the log name the refused identity.
 */
export async function checkRefusals(): Promise<readonly RefusalCheck[]> {
  try {
    await open();
    return await checkAll();
  } finally {
    await close();
  }
}

async function checkAll(): Promise<readonly RefusalCheck[]> {
  const keys: string[] = [];
  const answers: string[] = [];
  const expected = new Map<string, number>();
  for (const { action, reason, actor, isInstallation, act } of CASES) {
    answers.push((await act()) ?? '');
    const key = [isInstallation === true, actor() ?? null, action, reason].join(' ');
    keys.push(key);
    expected.set(key, (expected.get(key) ?? 0) + 1);
  }
  const missing = async (): Promise<Set<string>> => {
    const found = new Map<string, number>();
    for (const isInstallation of [false, true])
      for (const event of await refusedEvents(isInstallation ? '&organizationId=installation' : '')) {
        const key = [isInstallation, event.actor.id, event.action, event.reason].join(' ');
        found.set(key, (found.get(key) ?? 0) + event.occurrences);
      }
    return new Set([...expected].filter(([key, count]) => found.get(key) !== count).map(([key]) => key));
  };
  let absent = await missing();
  const deadlineMs = performance.now() + MAX_TRAIL_MS;
  while (absent.size > 0 && performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    absent = await missing();
  }
  const lines = world.records
    .map((record) => JSON.stringify(record))
    .filter((line) => line.includes('refused'));
  return CASES.map(({ name, actor, sentReason }, at) => {
    const id = actor();
    const isLogged = id === undefined || lines.some((line) => line.includes(id));
    const problems = [
      ...(sentReason === undefined || sentReason.test(answers[at]!)
        ? []
        : [`the peer was sent "${answers[at]}"`]),
      ...(absent.has(keys[at]!) ? [`the audit trail has no ${keys[at]}`] : []),
      ...(isLogged ? [] : [`the log does not name ${id}`]),
    ];
    return { name, problem: problems.length === 0 ? undefined : problems.join(', ') };
  });
}
