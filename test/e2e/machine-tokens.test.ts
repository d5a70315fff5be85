// Machines with tokens of a real OpenID provider at a guarded share, while the provider's signing keys change.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/deadline.ts';
import type { IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorld } from '../support/shared-world.ts';

const SHORTLY_MS = 20_000;

describe('a token of the OpenID provider', () => {
  let world: IdentityWorld;
  let providerId: string;
  let host: string;
  before(async () => {
    world = await sharedIdentityWorld();
    providerId = await world.addProvider('OIDC', 'staff');
    host = await world.share('machines', [providerId]);
  });
  after(releaseWorld);

  const statusWith = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await world.visitor().ask(host, '/', { headers, navigates: false })).status;
  };
  const token = (claims: object = {}, options: object = {}) =>
    world.provider.signToken({ sub: 'robot', ...claims }, options);

  it('admits a machine; a token with another audience or an expired one is refused', async () => {
    await until(
      'the keys come',
      async () => statusWith(await token()),
      (status) => status === 200,
      SHORTLY_MS,
    );
    assert.equal(await statusWith(await token({}, { audience: 'another' })), 401);
    assert.equal(await statusWith(await token({}, { issuer: 'https://elsewhere.example' })), 401);
    assert.equal(await statusWith(await token({}, { expiresInS: -120 })), 401);
    assert.equal(await statusWith('no.token.atall'), 401);
  });

  it('signed by a new key is accepted within seconds, and one signed by the old key is soon refused', async () => {
    const old = await token();
    await world.provider.rotateKeys();
    const isKnown = (status: number): boolean => status === 200;
    await until('the new key is known', async () => statusWith(await token()), isKnown, SHORTLY_MS);
    assert.equal(await statusWith(old), 401);
  });

  it('is refused within seconds once the provider is disabled', async () => {
    const good = await token();
    assert.equal(await statusWith(good), 200);
    await world.call('PATCH', `/auth-providers/${providerId}`, { enabled: false });
    await until(
      'it is refused',
      () => statusWith(good),
      (status) => status === 401,
      SHORTLY_MS,
    );
  });
});
