/**
 * Sends full states of the data model in parts of bounded size: a DataState with the first part, then synthetic change
 * sets, which routers apply without an index. Each part is encoded in a turn of the loop of its own. All contain the model
 * as of the first part's index, so that a router can apply the sets after it.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { headerId, HeaderWriter, makeFrame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { ConnectedRouter } from '../mesh/connected-router.ts';
import type { DataEntity } from './data-model-diff.ts';

/** A router with the id of its subscription, '' for routers that have none. */
export interface StateReceiver {
  readonly router: ConnectedRouter;
  readonly subscriptionId: string;
}

export interface StateOrigin {
  readonly index: bigint;
  readonly timelineId: string;
}

/** Events of one part; an event that relates entities to a policy counts for more than one. */
const MAX_PART_WEIGHT = 500;
const IDS_PER_WEIGHT = 20;
/** A router that does not read is skipped after this time. It gets the state when it subscribes again. */
const MAX_WAIT_MS = 30_000;
const WAIT_STEP_MS = 10;

/** Resolves with the receivers to which all parts were sent. Never rejects. */
export async function sendFullState<Receiver extends StateReceiver>(
  receivers: readonly Receiver[],
  origin: StateOrigin,
  entities: Iterator<DataEntity>,
): Promise<Receiver[]> {
  let isFirst = true;
  let left = [...receivers];
  for (;;) {
    const { models, isLast } = nextPart(entities);
    const events = models.map((model) => ({ model, isSynthetic: !isFirst }));
    const message = isFirst ? ctrlMessages.dataState : ctrlMessages.dataStateChangeSet;
    const body = isFirst
      ? ctrlMessages.dataState.encode({ events, endIndex: origin.index, timelineId: origin.timelineId })
      : ctrlMessages.dataStateChangeSet.encode({ isSynthetic: true, changes: events });
    for (const { router, subscriptionId } of left) {
      const headers = new HeaderWriter();
      if (subscriptionId !== '') headers.text(headerId.dataModel.subscriptionId, subscriptionId);
      if (!isFirst || !isLast) headers.bool(headerId.dataModel.isContinued, !isLast);
      router.send(makeFrame(message.contentType, { headers, body }));
    }
    if (isLast) return left;
    isFirst = false;
    left = await writableOf(left);
    if (left.length === 0) return left;
    await nextTurn();
  }
}

function nextPart(entities: Iterator<DataEntity>): { models: DataEntity[]; isLast: boolean } {
  const models: DataEntity[] = [];
  for (let weight = 0; weight < MAX_PART_WEIGHT;) {
    const { done = false, value } = entities.next();
    if (done) return { models, isLast: true };
    const model = value as DataEntity;
    models.push(model);
    const ids = model.case === 'servicePolicyChange' ? (model.value.relatedEntityIds?.length ?? 0) : 0;
    weight += 1 + ids / IDS_PER_WEIGHT;
  }
  return { models, isLast: false };
}

/** Waits until the receivers have read what was sent, and returns those that did. */
async function writableOf<Receiver extends StateReceiver>(
  receivers: readonly Receiver[],
): Promise<Receiver[]> {
  const deadlineMs = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const open = receivers.filter(({ router }) => !router.channel.isClosed);
    if (open.every(({ router }) => router.channel.isWritable) || performance.now() > deadlineMs)
      return open.filter(({ router }) => router.channel.isWritable);
    await delay(WAIT_STEP_MS);
  }
}
