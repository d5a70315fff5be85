// The order of the data model's events, at random changes of everything that it contains, for routers that subscribe at any time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLog } from '#base';
import { openMemoryChannel } from '#net/channel';
import { headerId, type Frame } from '#wire';
import { ctrlMessages, encodeRouterHello } from '#wire/ctrl';
import { SeededRandom } from '../../../../test/support/seeded-random.ts';
import { TEST_SEED } from '../../../../test/support/test-seed.ts';
import { OverlayModel, type Identity } from '../model/overlay-model.ts';
import type { ProjectedService, ServiceEndpoint } from '../model/service.ts';
import type { EdgeEntityRecord } from '../model/edge-entity.ts';
import { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import { DataModelFeed } from './data-model-feed.ts';
import { StrictDataModel } from '../testing/strict-data-model.ts';
import { sampleService } from '../testing/sample-service.ts';

const CHANGES = 1_500;
/** So many that a full state takes several turns of the loop. */
const OTHER_SHARES = 700;
const IDS = ['a', 'b', 'c', 'd'];
const ENVIRONMENTS = IDS.map((id) => `environment-${id}`);
const GATEWAYS = IDS.map((id) => `gateway-${id}`);
const PEOPLE = IDS.map((id) => `identity-${id}`);
const ROUTERS = IDS.map((id) => `router-${id}`);
const SHARES = IDS.map((id) => `share-${id}`);
const TIMES = { tags: {}, createdAtMs: 1, updatedAtMs: 1 };

/** A router that subscribes to the feed and reads strictly. */
class Subscriber {
  readonly router: ConnectedRouter;
  model = new StrictDataModel();
  readonly #feed: DataModelFeed;
  #isWhole = false;
  #index = 0n;
  #timelineId = '';
  #fault: Error | undefined;

  constructor(feed: DataModelFeed, id: string) {
    this.#feed = feed;
    const peer = { id, fingerprint: id, hello: encodeRouterHello('v1.7.2', []), address: 'memory' };
    const options = { id, log: silentLog, peer };
    const [ours, theirs] = openMemoryChannel(options, options);
    ours.handle({ onFrame: () => {}, onClose: () => {} });
    theirs.handle({ onFrame: (frame) => this.#onFrame(frame), onClose: () => {} });
    const hello = { version: 'v1.7.2', release: undefined, capabilities: new Uint8Array(), isGrouped: false };
    this.router = new ConnectedRouter(ours, { ...hello, listeners: [] }, 0);
  }

  /** Throws what was wrong with a frame, which would otherwise only end the channel. */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  get isCurrent(): boolean {
    return this.#isWhole && this.#index === this.#feed.index;
  }

  /** Again, as after a lost connection, it asks for what it missed. */
  subscribe(nowMs: number): void {
    const request = { currentIndex: this.#index, timelineId: this.#timelineId, subscriptionId: '' };
    const frame = ctrlMessages.subscribeToDataModel.frame({ ...request, subscriptionDurationSeconds: 300 });
    this.#feed.onSubscribe(this.router, frame, nowMs);
  }

  #onFrame(frame: Frame): void {
    try {
      this.#read(frame);
    } catch (error) {
      this.#fault ??= error as Error;
    }
  }

  #read(frame: Frame): void {
    if (frame.contentType === ctrlMessages.dataState.contentType) {
      const { events, endIndex, timelineId } = ctrlMessages.dataState.decode(frame.body);
      this.#index = endIndex;
      this.#timelineId = timelineId;
      this.#isWhole = !frame.headers.bool(headerId.dataModel.isContinued);
      this.model = new StrictDataModel();
      this.model.apply(events);
    } else if (frame.contentType === ctrlMessages.dataStateChangeSet.contentType) {
      const set = ctrlMessages.dataStateChangeSet.decode(frame.body);
      // It was already on the way when the router subscribed again.
      if (!set.isSynthetic && set.index <= this.#index) return;
      this.model.apply(set.changes);
      if (set.isSynthetic) this.#isWhole = !frame.headers.bool(headerId.dataModel.isContinued);
      else {
        assert.equal(set.previousIndex, this.#index);
        this.#index = set.index;
      }
    }
  }
}

function identity(id: string, name: string): Identity {
  const kind = id.startsWith('identity') ? 'edge' : (id.split('-')[0] as Identity['kind']);
  return { id, kind, name, ownerId: null, fingerprints: [] };
}

const SERVER = { address: '127.0.0.1', port: 3000 };
const ENDPOINTS: readonly (ServiceEndpoint | undefined)[] = [
  { protocol: 'tcp', clientPort: 80, server: SERVER },
  { protocol: 'tcp', clientPort: 22, server: undefined },
  undefined,
];

function share(id: string, more: Partial<ProjectedService>): ProjectedService {
  return sampleService(id, { hostId: ENVIRONMENTS[0]!, ...more });
}

/** Changes the model at random, as no store with foreign keys would: everything may come and go at any time. */
class RandomChanges {
  readonly #model: OverlayModel;
  readonly #random: SeededRandom;

  constructor(model: OverlayModel, random: SeededRandom) {
    this.#model = model;
    this.#random = random;
  }

  next(): void {
    const random = this.#random;
    const isRemoval = random.int(3) === 0;
    const kind = random.int(10);
    if (kind < 3) this.#identity(isRemoval);
    else if (kind < 6) this.#share(isRemoval);
    else this.#entity(isRemoval);
  }

  #some(among: readonly string[]): string[] {
    return among.filter(() => this.#random.int(3) === 0);
  }

  #identity(isRemoval: boolean): void {
    const id = this.#random.pick([...ENVIRONMENTS, ...GATEWAYS, ...PEOPLE, ...ROUTERS]);
    if (isRemoval) this.#model.removeIdentity(id);
    else this.#model.setIdentity(identity(id, this.#random.pick(['one', 'two'])));
  }

  #share(isRemoval: boolean): void {
    const random = this.#random;
    const id = random.pick(SHARES);
    if (isRemoval) this.#model.removeHostedService(id);
    else
      this.#model.setHostedService(
        share(id, {
          hostId: random.pick(ENVIRONMENTS),
          openTo: random.pick(['gateways', 'grants']),
          endpoint: random.pick(ENDPOINTS),
          grants: this.#some([...ENVIRONMENTS, ...ROUTERS, 'nobody']),
        }),
      );
  }

  #entity(isRemoval: boolean): void {
    const random = this.#random;
    const letter = random.pick(IDS);
    const kind = random.pick([
      'identity',
      'edge-router',
      'service',
      'config',
      'posture-check',
      'service-policy',
      'service-policy',
    ] as const);
    const id = kind === 'edge-router' ? `router-${letter}` : `${kind}-${letter}`;
    if (isRemoval) this.#model.removeEdgeEntity(id);
    else this.#model.setEdgeEntity({ id, kind, name: id, data: this.#dataOf(kind), ...TIMES });
  }

  #dataOf(kind: string): EdgeEntityRecord['data'] {
    const random = this.#random;
    const roleAttributes = this.#some(['red', 'blue']);
    const named = (part: string): string[] => [
      ...this.#some(IDS).map((letter) => `@${part}-${letter}`),
      ...this.#some(['#red', '#all']),
    ];
    if (kind === 'config') return { configTypeId: 'host.v1', data: { port: random.int(9) } };
    if (kind === 'edge-router') return { isTunnelerEnabled: random.int(2) === 0, roleAttributes };
    if (kind === 'service')
      return { roleAttributes, configs: this.#some(IDS).map((letter) => `config-${letter}`) };
    if (kind === 'posture-check') return { typeId: 'MFA', timeoutSeconds: random.int(9), roleAttributes };
    if (kind !== 'service-policy') return { roleAttributes };
    return {
      type: random.pick(['Dial', 'Bind']),
      semantic: 'AnyOf',
      identityRoles: named(random.pick(['identity', 'router'])),
      serviceRoles: named('service'),
      postureCheckRoles: named('posture-check'),
    };
  }
}

test('no event refers to an entity that the router lacks, and none removes one that others refer to', async (t) => {
  t.diagnostic(`FRONTDOOR_TEST_SEED=${TEST_SEED}`);
  const random = new SeededRandom(TEST_SEED);
  const model = new OverlayModel();
  for (const id of [...ENVIRONMENTS, ...GATEWAYS]) model.setIdentity(identity(id, id));
  for (let n = 0; n < OTHER_SHARES; n += 1)
    model.setHostedService(share(`other-${n}`, { hostId: random.pick(ENVIRONMENTS) }));
  const feed = new DataModelFeed(
    model,
    new RouterRegistry(),
    () => [],
    () => Promise.resolve(),
    'ziti',
  );
  model.onChange((change) => feed.onChange(change));
  const changes = new RandomChanges(model, random);
  const subscribers: Subscriber[] = [];
  let nowMs = 0;
  for (let n = 0; n < CHANGES; n += 1) {
    changes.next();
    if (random.int(3) === 0) await nextTurn();
    for (const each of subscribers) each.check();
    if (random.int(10) === 0) feed.tick((nowMs += 250));
    if (n % 200 === 0) subscribers.push(new Subscriber(feed, `router ${n}`));
    if (random.int(50) === 0) random.pick(subscribers).subscribe(nowMs);
  }
  const last = new Subscriber(feed, 'last');
  subscribers.push(last);
  for (let turn = 0; turn < 100 && !subscribers.every(({ isCurrent }) => isCurrent); turn += 1) {
    for (const each of subscribers) if (!each.isCurrent) each.subscribe(nowMs);
    for (let part = 0; part < 20; part += 1) await nextTurn();
  }
  for (const each of subscribers) {
    each.check();
    assert.deepEqual(each.model.content(), last.model.content());
  }
});
