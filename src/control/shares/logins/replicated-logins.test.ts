import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import { EgressClient } from '#net';
import { until } from '../../../../test/support/deadline.ts';
import { startHostileProvider, type HostileProvider } from '../../../../test/support/hostile-provider.ts';
import { postgresSkip } from '../../../../test/support/postgres.ts';
import { type AttachedModel, attachModel, OverlayModel } from '../../overlay/model/mod.ts';
import { newPostgresPlace } from '../../store/engine/each-store-suite.ts';
import { openStore, type Store } from '../../store/mod.ts';
import type { AccessChange } from './gateway-access.ts';
import { loginStart, logIn, openLoginFixture, type LoginFixture } from './login-fixture.ts';
import { openLoginParts, type LoginParts } from './login-parts.ts';
import { openShareCatalog } from '../catalog/catalog-loader.ts';

describe('control planes over one database', { skip: postgresSkip }, () => {
  let issuer: HostileProvider;
  let world: LoginFixture;
  let store: Store;
  let attached: AttachedModel;
  let closeShares: () => void;
  let other: LoginParts;
  const received: AccessChange[] = [];
  before(async () => {
    issuer = await startHostileProvider();
    const place = await newPostgresPlace();
    world = await openLoginFixture({ open: (options) => openStore({ ...place, ...options }) });
    store = await openStore(place);
    const model = new OverlayModel();
    attached = await attachModel(store, model);
    const { catalog, close } = await openShareCatalog(store, model);
    closeShares = close;
    const { secrets, clock } = world;
    const egress = new EgressClient({ allowed: [] });
    other = await openLoginParts({ store, secrets, catalog, egress, clock, log: silentLog });
    other.access.onChange((change) => received.push(change));
  });
  after(async () => {
    await other.close();
    closeShares();
    attached.close();
    await store.close();
    await world.close();
    await issuer.close();
  });

  it('notify each other of providers, zones and sessions that end, within seconds', async () => {
    const data = { issuer: issuer.issuer, client_id: 'frontdoor', client_secret: 'x' };
    const { id } = await world.addProvider('OIDC', data);
    const share = await world.addShare('app', [id]);
    const redeemed = await logIn(world.parts, loginStart(share, id));
    assert.ok(redeemed.type === 'session');
    const { token, session } = redeemed;
    const here = async () => (await other.logins.find(token))?.id;
    await until('the other knows provider and share', here, (found) => found === session.id);
    await world.parts.logins.end(token);
    await until(
      'the other is notified of its end',
      () => received.some((change) => change.type === 'ended-session' && change.id === session.id),
      (isReceived) => isReceived,
    );
    assert.equal(await other.logins.find(token), null);
    await world.changeProvider(id, { enabled: false });
    const enabled = () => other.access.provider(id)!.enabled;
    await until('the other has it as disabled', enabled, (isEnabled) => !isEnabled);
    assert.deepEqual(other.access.keys(), world.parts.access.keys(), 'origins are sent the same');
    assert.deepEqual(other.access.zones(), world.parts.access.zones());
  });
});
