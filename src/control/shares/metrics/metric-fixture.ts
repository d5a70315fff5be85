/** A frontdoor with environments and shares in a store, and reports of their traffic, for tests. */
import { randomUUID } from 'node:crypto';
import { NO_RESPONSES, type TrafficReport, type TrafficSample } from '#domain/gateway-shapes';
import { createShare } from '../records/share-store.ts';
import { grantFrontdoor, type GrantedFrontdoor } from '../records/frontdoor-store.ts';
import type { Store } from '../../store/mod.ts';

export interface Place {
  readonly shareId: string;
  readonly environmentId: string;
  readonly frontdoorId: string;
}

export async function addFrontdoor(store: Store): Promise<GrantedFrontdoor> {
  const organization = { id: randomUUID(), name: 'an organization', created_at: 1 };
  const id = randomUUID();
  await store.db.insertInto('organization').values(organization).execute();
  await store.db
    .insertInto('frontdoor')
    .values({ id, organization_id: organization.id, name: 'a frontdoor', created_at: 1 })
    .execute();
  return (await grantFrontdoor(store.db, organization.id, id))!;
}

/** Adds a share in an environment of its own. */
export async function addShare(store: Store, frontdoor: GrantedFrontdoor, name = 'app'): Promise<Place> {
  const environmentId = randomUUID();
  await store.db
    .insertInto('identity')
    .values({
      id: environmentId,
      kind: 'environment',
      frontdoor_id: frontdoor.id,
      name: `home of ${name}`,
      agent_version: null,
      created_at: 1,
    })
    .execute();
  const share = await store.transaction((trx, touch) =>
    createShare(trx, touch, {
      frontdoorId: frontdoor.id,
      environmentId,
      shareMode: 'private',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:3000',
      targetByAgent: false,
      name,
      nowMs: 1,
    }),
  );
  return { shareId: share.id, environmentId, frontdoorId: frontdoor.id };
}

export function sampleOf(place: Place, startsAt: number, more: Partial<TrafficSample> = {}): TrafficSample {
  const counts = { requests: 1, errors: 0, bytesIn: 10, bytesOut: 100, latency: [20, 1] };
  return { ...place, startsAt, byClass: [...NO_RESPONSES], ...counts, ...more };
}

export function reportOf(batch: number, ...samples: readonly TrafficSample[]): TrafficReport {
  return { source: 'process-1', batch, samples };
}
