import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ManualClock, silentLog } from '#base';
import { OverlayModel } from '../model/overlay-model.ts';
import type { ProjectedService } from '../model/service.ts';
import { ModelFollower, type ModelFollowerParts } from './model-follower.ts';

const MANY = 20_000;
/** As `inSlices` cuts, and what the checks of a turn look at besides. */
const MOST_IN_ONE_TURN = 2_100;

test('the end of an identity looks at a bounded number of terminators in one turn, and removes all of its own', async () => {
  const model = new OverlayModel();
  for (const [id, kind] of [
    ['router', 'router'],
    ['stays', 'environment'],
    ['goes', 'environment'],
  ] as const)
    model.setIdentity({ id, kind, name: id, ownerId: 'fd', fingerprints: [] });
  const terminators = new Map<string, unknown>();
  for (let n = 0; n < MANY; n += 1) {
    const identityId = n % 10 === 0 ? 'goes' : 'stays';
    const service = {
      id: `s${n}`,
      name: `s${n}`,
      hostId: identityId,
      openTo: 'gateways',
      grants: [],
    };
    model.setHostedService(service as unknown as ProjectedService);
    terminators.set(`t${n}`, { id: `t${n}`, serviceId: `s${n}`, identityId, routerId: 'router' });
  }
  let looks = 0;
  const identity = model.identity.bind(model);
  model.identity = (id) => ((looks += id === 'router' ? 1 : 0), identity(id));
  const follower = new ModelFollower({
    model,
    sessions: { onRemoved: () => {}, onPostureChanged: () => {}, byId: () => undefined },
    terminators: {
      all: () => terminators.values(),
      ofService: () => new Map(),
      removeDisallowed: async (gone: readonly { readonly id: string }[]) => {
        for (const { id } of gone) terminators.delete(id);
      },
    },
    circuits: { all: () => new Map().values() },
    builder: { refuseWhere: () => {} },
    prober: { onServiceGone: () => {}, onServiceKnown: () => {} },
    costs: {},
    clock: new ManualClock(),
    log: silentLog,
  } as unknown as ModelFollowerParts);
  model.onChange((change) => follower.onChange(change));
  model.removeIdentity('goes');
  let most = 0;
  for (let turn = 0; turn < 1_000 && terminators.size > MANY * 0.9; turn += 1) {
    looks = 0;
    await nextTurn();
    most = Math.max(most, looks);
  }
  assert.equal(terminators.size, MANY * 0.9);
  assert.ok(most > 0 && most <= MOST_IN_ONE_TURN, `${most} terminators in one turn`);
});
