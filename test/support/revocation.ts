/**
 * Ways in which a caller loses access, each through the Management API or a log-out while streams are open.
 * Measures how long new requests were still admitted, and how long the streams lasted.
 */
import { RunningTime, until, within } from './deadline.ts';
import type { IdentityWorld } from './identity-world.ts';
import { openAll, type CredentialHeaders } from './live-stream.ts';
import { SESSION_COOKIE, type Visitor } from './visitor.ts';

export interface RevocationTimes {
  /** Running time since the acknowledged call. */
  readonly refusedMs: number;
  readonly cutMs: number;
}

export interface Revocation {
  readonly name: string;
  /** Admits a caller. Returns the caller's credentials, and the call that revokes them. */
  readonly prepare: (stage: RevocationStage, visitor: Visitor) => Promise<PreparedRevocation>;
}

interface PreparedRevocation {
  readonly credentials: CredentialHeaders;
  readonly revoke: () => Promise<unknown>;
}

/** A share of its own, and providers of its own, for one way. */
export interface RevocationStage {
  readonly world: IdentityWorld;
  readonly name: string;
  readonly host: string;
  readonly login: string;
  readonly keys: string;
}

export const MAX_REFUSED_MS = 5_000;
export const MAX_CUT_MS = 10_000;
/** Longer than the promised time, so that a late check is reported with its time. */
const WAIT_MS = 30_000;
const ASK_EVERY_MS = 20;

const KEY = 'a-key-of-the-first-caller';
const PASSWORD = 'a-password-of-some-length';
const SECOND_KEY = 'a-key-of-the-second-caller';
const keyData = (...keys: readonly { readonly name: string; readonly key: string }[]) => ({
  placement: 'header',
  name: 'X-Api-Key',
  keys,
});
const FIRST = { name: 'first', key: KEY };
const SECOND = { name: 'second', key: SECOND_KEY };

const bySession = async ({ host }: RevocationStage, visitor: Visitor): Promise<CredentialHeaders> => {
  if (visitor.cookie(host) === undefined) await visitor.logIn(host, '/', 'ann');
  return { cookie: `${SESSION_COOKIE}=${visitor.cookie(host)}` };
};
export const KEY_HEADERS: CredentialHeaders = { 'x-api-key': KEY };
const byKey = (): Promise<CredentialHeaders> => Promise.resolve(KEY_HEADERS);

/** A token of the provider's for a machine; its keys reach gateways a moment after the provider is first used. */
const byToken = async (stage: RevocationStage, visitor: Visitor): Promise<CredentialHeaders> => {
  const token = await stage.world.provider.signToken({ sub: 'machine' });
  const credentials = { authorization: `Bearer ${token}` };
  await admit(stage, visitor, credentials);
  return credentials;
};
const byName = async (stage: RevocationStage, visitor: Visitor): Promise<CredentialHeaders> => {
  const { world, name } = stage;
  await world.call('PUT', `/shares/${name}/policy`, { basicAuth: [{ name: 'ann', password: PASSWORD }] });
  const credentials = { authorization: `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}` };
  await admit(stage, visitor, credentials);
  return credentials;
};

export const REVOCATIONS: readonly Revocation[] = [
  way('a log-in’s provider is disabled', bySession, ({ world, login }) =>
    world.call('PATCH', `/auth-providers/${login}`, { enabled: false }),
  ),
  way('a log-in’s provider is detached', bySession, ({ world, name, keys }) =>
    world.call('PATCH', `/shares/${name}`, { authProviderIds: [keys] }),
  ),
  way('a key’s provider is disabled', byKey, ({ world, keys }) =>
    world.call('PATCH', `/auth-providers/${keys}`, { enabled: false }),
  ),
  way('a key is removed', byKey, ({ world, keys }) =>
    world.call('PATCH', `/auth-providers/${keys}`, { data: keyData(SECOND) }),
  ),
  way('a token’s provider is disabled', byToken, ({ world, login }) =>
    world.call('PATCH', `/auth-providers/${login}`, { enabled: false }),
  ),
  way('a name and password are removed', byName, ({ world, name }) =>
    world.call('PUT', `/shares/${name}/policy`, {}),
  ),
  way('an address is denied', byKey, ({ world, name }) =>
    world.call('PUT', `/shares/${name}/policy`, { ipDeny: ['127.0.0.0/8'] }),
  ),
  way('an e-mail rule is tightened', bySession, ({ world, name }) =>
    world.call('PUT', `/shares/${name}/policy`, { emails: ['*@other.test'] }),
  ),
  {
    name: 'the session is ended by its log-out',
    prepare: async (stage, visitor) => ({
      credentials: await bySession(stage, visitor),
      revoke: async () => {
        const { status } = await visitor.ask(stage.host, '/.frontdoor/logout', { method: 'POST' });
        if (status !== 200) throw new Error(`not logged out: ${status}`);
      },
    }),
  },
  way('the share is deleted', byKey, ({ world, name }) => world.call('DELETE', `/shares/${name}`)),
];

function way(
  name: string,
  credentialsOf: (stage: RevocationStage, visitor: Visitor) => Promise<CredentialHeaders>,
  revoke: (stage: RevocationStage) => Promise<unknown>,
): Revocation {
  return {
    name,
    prepare: async (stage, visitor) => ({
      credentials: await credentialsOf(stage, visitor),
      revoke: () => revoke(stage),
    }),
  };
}

export async function openStage(world: IdentityWorld, name: string): Promise<RevocationStage> {
  const [login, keys] = await Promise.all([
    world.addProvider('OIDC', `${name} log-in`),
    world.addProvider('API_KEY', `${name} keys`, keyData(FIRST, SECOND)),
  ]);
  return { world, name, login, keys, host: await world.share(name, [login, keys]) };
}

/** Restores the first state, so that access can be revoked once more. */
export async function restore({ world, name, login, keys, host }: RevocationStage): Promise<void> {
  await world.call('PATCH', `/auth-providers/${login}`, { enabled: true });
  await world.call('PATCH', `/auth-providers/${keys}`, { enabled: true, data: keyData(FIRST, SECOND) });
  const share = await world.parts.call('GET', `/shares/${name}`);
  if (share.status === 200) {
    await world.call('PATCH', `/shares/${name}`, { authProviderIds: [login, keys] });
    await world.call('PUT', `/shares/${name}/policy`, {});
  } else await world.share(name, [login, keys]);
  const visitor = world.visitor();
  const headers = await byKey();
  await until(
    `${host} is as it was`,
    async () => [
      (await visitor.ask(host, '/restored', { headers, navigates: false })).status,
      (await visitor.ask(host, '/restored')).status,
    ],
    ([key, login]) => key === 200 && login === 302,
    WAIT_MS,
  );
}

/** Rejects when the caller is not admitted at first, or when access does not end at all. */
export async function timeRevocation(
  revocation: Revocation,
  stage: RevocationStage,
): Promise<RevocationTimes> {
  const { world, host } = stage;
  const visitor = world.visitor();
  const { credentials, revoke } = await revocation.prepare(stage, visitor);
  const caller = world.visitor();
  const statusOf = async (): Promise<number> => {
    try {
      const options = { headers: credentials, navigates: false };
      return (await caller.ask(host, '/during', options)).status;
    } catch {
      return 0;
    }
  };
  await until(`${revocation.name}: admitted before`, statusOf, (status) => status === 200);
  const streams = await openAll(world, caller, host, credentials);
  try {
    await revoke();
    using time = new RunningTime();
    const cut = Promise.all(streams.map(({ ended }) => ended)).then(() => time.ms);
    let last = await statusOf();
    while (last < 400) {
      if (time.ms > WAIT_MS) throw new Error(`${revocation.name}: still admitted`);
      await pause(ASK_EVERY_MS);
      last = await statusOf();
    }
    const refusedMs = time.ms;
    const open = (): string =>
      streams
        .filter(({ isOpen }) => isOpen)
        .map(({ name }) => name)
        .join(', ');
    const cutMs = await within(`${revocation.name}: streams end`, cut, WAIT_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}; still open: ${open()}`);
    });
    return { refusedMs, cutMs };
  } finally {
    for (const stream of streams) stream.close();
  }
}

async function admit({ host }: RevocationStage, visitor: Visitor, headers: CredentialHeaders): Promise<void> {
  await until(
    `${host} admits the visitor`,
    async () => (await visitor.ask(host, '/before', { headers, navigates: false })).status,
    (status) => status === 200,
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
