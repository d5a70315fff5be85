/**
 * Operations on the destinations of notifications. An address may hold a token, so the audit trail has its origin only. A caller
 * that subscribes to events of the installation, or changes where these go, needs `frontdoor.admin`.
 */
import { randomUUID } from 'node:crypto';
import { FrontdoorError } from '#base';
import { DEFAULT_NOTIFICATION_EVENTS, isOfInstallation, type NotificationEventType } from '#contract';
import type { NotificationDeliveryAnswer, NotificationDestinationAnswer } from '#contract/schemas';
import { parseName } from '#domain';
import { readAlone } from '#net';
import type { Principal } from '../../credentials/oauth/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import {
  findDelivery,
  listDeliveries,
  retryDelivery,
  type NotificationDelivery,
} from '../notifications/delivery-store.ts';
import {
  createDestination,
  deleteDestination,
  findDestination,
  listDestinations,
  lockDestination,
  updateDestination,
  type NotificationDestination,
} from '../notifications/destination-store.ts';
import { newWebhookSecret } from '../notifications/webhook-message.ts';
import { checkOfType, checkUrl, newTargetOf } from './notification-target.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type Call,
  type ChangeParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import {
  ADMIN,
  askedOrganization,
  checkMayHandOut,
  lockReachedOrganization,
  mayReach,
} from './granted-organization.ts';
import { OrganizationLimit } from './organization-limit.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest, textOf } from './page-query.ts';

const KIND = 'notification-destination';
/** A test lasts until the destination answers, or the time is over. */
const tests = new OrganizationLimit({ most: 64, mostOfOrganization: 4, againSeconds: 10 });
const TEST_DATA = JSON.stringify({ message: 'This is a test of a notification destination of Frontdoor.' });

type NotificationParts = CreationParts & Pick<ApiParts, 'notifications'>;
type CallOfOne = Call<unknown, 'id'>;

export const notificationHandlers: Handlers<
  NotificationParts,
  | 'createNotificationDestination'
  | 'listNotificationDestinations'
  | 'getNotificationDestination'
  | 'changeNotificationDestination'
  | 'rotateNotificationSecret'
  | 'deleteNotificationDestination'
  | 'testNotificationDestination'
  | 'listNotificationDeliveries'
  | 'retryNotificationDelivery'
> = {
  createNotificationDestination(parts, call) {
    const { body, principal } = call;
    const events = body.events ?? DEFAULT_NOTIFICATION_EVENTS;
    checkMaySubscribe(principal, events);
    const target = newTargetOf(parts, body);
    const make = async (trx: Queries) => {
      const asked = body.organizationId ?? principal.organizationId;
      const { id: organizationId } = await lockReachedOrganization(trx, principal, asked);
      const wanted = {
        organizationId,
        name: parseName(body.name)!,
        isEnabled: body.enabled ?? true,
        events,
        ...target,
      };
      const made = await createDestination(trx, parts.secrets, wanted, parts.clock.nowMs());
      const { id } = made;
      return { result: made, target: { kind: KIND, id }, after: auditedOf(parts, made), organizationId };
    };
    return creation(parts, call, make, (made) => {
      const { secret } = target;
      const answer = { ...answerOf(parts, made), ...(secret === null ? {} : { secret }) };
      return tagged(
        parts,
        unstored(created(parts, `/notification-destinations/${made.id}`, answer)),
        storedOf(parts, made),
      );
    });
  },

  async listNotificationDestinations(parts, call) {
    const { db } = parts.store;
    const organizationId = await askedOrganization(db, call);
    const request = parsePageRequest(call.query);
    const filter = listFilterOf(call.query);
    const page = await listDestinations(db, parts.secrets, organizationId, request, filter);
    return ok(
      countedPageAnswer(
        request,
        page,
        page.content.map((each) => answerOf(parts, each)),
      ),
    );
  },

  async getNotificationDestination(parts, call) {
    const destination = await reachedDestination(parts, call);
    return tagged(parts, ok(answerOf(parts, destination)), storedOf(parts, destination));
  },

  async changeNotificationDestination(parts, call) {
    const { name, url, addresses, enabled, events } = call.body;
    if (events !== undefined) checkMaySubscribe(call.principal, events);
    if (url !== undefined) checkUrl(url);
    const after = await change(parts, call, async (trx, touch) => {
      const before = await lockedDestination(parts, trx, call);
      checkIfMatch(parts, call, storedOf(parts, before));
      checkOfType(before.type, call.body);
      const result = {
        ...before,
        name: name === undefined ? before.name : parseName(name)!,
        url: url ?? before.url,
        addresses: addresses ?? before.addresses,
        isEnabled: enabled ?? before.isEnabled,
        events: events ?? before.events,
      };
      return updated(parts, trx, touch, before, result);
    });
    return tagged(parts, ok(answerOf(parts, after)), storedOf(parts, after));
  },

  rotateNotificationSecret(parts, call) {
    const { overlapSeconds = 0 } = call.body;
    const secret = newWebhookSecret();
    const make = async (trx: Queries, touch: Touch) => {
      const before = await lockedDestination(parts, trx, call);
      if (before.type !== 'webhook')
        throw new FrontdoorError('conflict', 'conflict', 'Only messages to webhooks are signed');
      const untilMs = parts.clock.nowMs() + overlapSeconds * 1_000;
      const previous =
        overlapSeconds === 0 || before.secret === null ? null : { secret: before.secret, untilMs };
      return updated(parts, trx, touch, before, { ...before, secret, previous });
    };
    return creation(parts, call, make, (rotated) =>
      tagged(parts, unstored(ok({ ...answerOf(parts, rotated), secret })), storedOf(parts, rotated)),
    );
  },

  async deleteNotificationDestination(parts, call) {
    await change(parts, call, async (trx) => {
      const before = await lockedDestination(parts, trx, call);
      checkIfMatch(parts, call, storedOf(parts, before));
      await deleteDestination(trx, before.id);
      const { organizationId } = before;
      const target = { kind: KIND, id: before.id };
      return { result: undefined, target, before: auditedOf(parts, before), organizationId };
    });
    return gone;
  },

  async testNotificationDestination(parts, call) {
    // Changes nothing, but makes the control plane call an address, which the audit trail records.
    const destination = await change(parts, call, async (trx) => {
      const result = await lockedDestination(parts, trx, call);
      const { id, organizationId } = result;
      return { result, target: { kind: KIND, id }, after: auditedOf(parts, result), organizationId };
    });
    const end = tests.begin(parts.notifications, destination.organizationId);
    const message = { id: randomUUID(), type: 'test', atMs: parts.clock.nowMs(), data: TEST_DATA };
    try {
      const { status, problem } = await parts.notifications.attempt(destination, message);
      return unstored(ok({ delivered: problem === undefined, status, problem: problem ?? null }));
    } finally {
      end();
    }
  },

  async listNotificationDeliveries(parts, call) {
    const { id } = await reachedDestination(parts, call);
    const request = parsePageRequest(call.query);
    const isAdmin = call.principal.scopes.includes(ADMIN);
    const page = await listDeliveries(parts.store.db, id, request, {
      state: textOf(call.query, 'state'),
      // What happens in the installation, such as names of its routers, is for its operators.
      types: isAdmin ? undefined : DEFAULT_NOTIFICATION_EVENTS,
    });
    return ok(countedPageAnswer(request, page, page.content.map(deliveryAnswer)));
  },

  async retryNotificationDelivery(parts, call) {
    const { deliveryId } = call.parameters;
    const after = await change(parts, call, async (trx, touch) => {
      const destination = await lockedDestination(parts, trx, call);
      const before = await findDelivery(trx, destination.id, deliveryId);
      if (before === undefined) throw notFound('Delivery', deliveryId);
      if (!(await retryDelivery(trx, touch, before, parts.clock.nowMs())))
        throw new FrontdoorError('conflict', 'conflict', 'Only a delivery that has failed can be sent again');
      const result = (await findDelivery(trx, destination.id, deliveryId))!;
      const { organizationId } = destination;
      const target = { kind: 'notification-delivery', id: before.id };
      return { result, target, after: { destinationId: destination.id, type: before.type }, organizationId };
    });
    return ok(deliveryAnswer(after));
  },
};

async function updated(
  parts: ChangeParts,
  ...[trx, touch, before, result]: [Queries, Touch, NotificationDestination, NotificationDestination]
) {
  await updateDestination(trx, touch, parts.secrets, result);
  return {
    result,
    target: { kind: KIND, id: before.id },
    before: auditedOf(parts, before),
    after: auditedOf(parts, result),
    organizationId: before.organizationId,
  };
}

/** Returns the destination that the call is about, if its organization is one that the caller may administer. */
async function reachedDestination(parts: ChangeParts, call: CallOfOne): Promise<NotificationDestination> {
  return reached(call, await findDestination(parts.store.db, parts.secrets, call.parameters.id));
}

/** Locks the destination for a change, which requires the right to each of its events. */
async function lockedDestination(
  { secrets }: ChangeParts,
  trx: Queries,
  call: CallOfOne,
): Promise<NotificationDestination> {
  const destination = reached(call, await lockDestination(trx, secrets, call.parameters.id));
  checkMaySubscribe(call.principal, destination.events);
  return destination;
}

function reached(call: CallOfOne, destination: NotificationDestination | undefined): NotificationDestination {
  if (destination === undefined || !mayReach(call.principal, destination.organizationId))
    throw notFound('Notification destination', call.parameters.id);
  return destination;
}

function checkMaySubscribe(principal: Principal, events: readonly NotificationEventType[]): void {
  if (events.some(isOfInstallation)) checkMayHandOut(principal, [ADMIN]);
}

/** The stored fields, without the results of attempts. */
function storedOf({ clock }: Pick<ApiParts, 'clock'>, destination: NotificationDestination) {
  const { id, organizationId, name, type, url, addresses, isEnabled, events, previous, createdAtMs } =
    destination;
  const isOverlapping = previous !== null && previous.untilMs > clock.nowMs();
  return {
    id,
    organizationId,
    name,
    type,
    ...(url === null ? {} : { url }),
    ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
    enabled: isEnabled,
    events: [...events],
    ...(isOverlapping ? { previousSecretUntil: isoTime(previous.untilMs) } : {}),
    createdAt: isoTime(createdAtMs),
  };
}

function auditedOf(parts: Pick<ApiParts, 'clock'>, destination: NotificationDestination) {
  const { url } = destination;
  return { ...storedOf(parts, destination), ...(url === null ? {} : { url: new URL(url).origin }) };
}

function answerOf(
  parts: Pick<ApiParts, 'clock'>,
  destination: NotificationDestination,
): NotificationDestinationAnswer {
  const { failures, lastSuccessAtMs, lastProblem } = destination;
  return {
    ...storedOf(parts, destination),
    failures,
    lastSuccessAt: lastSuccessAtMs === null ? null : isoTime(lastSuccessAtMs),
    lastProblem,
  };
}

function deliveryAnswer(delivery: NotificationDelivery): NotificationDeliveryAnswer {
  const { id, eventId, type, state, attempts, status, problem, attemptedAtMs } = delivery;
  return {
    id,
    eventId,
    type,
    state,
    attempts,
    nextAttemptAt: state === 'PENDING' ? isoTime(delivery.dueAtMs) : null,
    attemptedAt: attemptedAtMs === null ? null : isoTime(attemptedAtMs),
    status,
    problem,
    data: readAlone(`the notification event ${eventId} of the store`, () => JSON.parse(delivery.data)) ?? {},
    createdAt: isoTime(delivery.createdAtMs),
  };
}
