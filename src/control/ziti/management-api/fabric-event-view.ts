/**
 * Reads subscriptions to events by the names of OpenZiti 1.7.2. An unknown kind is refused by its name, as is an option that
 * has no effect.
 */
import { isJsonObject } from '#base';
import type { JsonObject } from '../../overlay/model/mod.ts';
import {
  readApiSessions,
  readAuthentications,
  readConnects,
  readSdks,
  readSessions,
} from './client-event-view.ts';
import { quoted, type AnySubscription, type SubscriptionReader } from './event-text.ts';
import {
  circuitSubscription,
  linkSubscription,
  routerSubscription,
  terminatorSubscription,
  usageSubscription,
} from './mesh-event-view.ts';
import {
  readAlerts,
  readClusters,
  readEntityChanges,
  readEntityCounts,
  readMetrics,
  readServices,
} from './operation-event-view.ts';

const MAX_SUBSCRIPTIONS = 32;

/** By the names of 1.4 and later, and the earlier ones. The names of a subscription are those of its events. */
const READERS: Readonly<Record<string, SubscriptionReader>> = {
  alert: readAlerts,
  apiSession: readApiSessions,
  'edge.apiSessions': readApiSessions,
  authentication: readAuthentications,
  usage: usageSubscription,
  'fabric.usage': usageSubscription,
  circuit: circuitSubscription,
  'fabric.circuits': circuitSubscription,
  cluster: readClusters,
  connect: readConnects,
  entityChange: readEntityChanges,
  entityCount: readEntityCounts,
  'edge.entityCounts': readEntityCounts,
  link: linkSubscription,
  'fabric.links': linkSubscription,
  metrics: readMetrics,
  router: routerSubscription,
  'fabric.routers': routerSubscription,
  sdk: readSdks,
  service: readServices,
  // The earlier name of these events is not that of their subscription.
  services: (_name, options) => readServices('service.events', options),
  session: readSessions,
  'edge.sessions': readSessions,
  terminator: terminatorSubscription,
  'fabric.terminators': terminatorSubscription,
};

/** Reads the body of a request. Returns a text if it is refused. */
export function subscriptionsOf(body: string): readonly AnySubscription[] | string {
  const request = objectOf(body);
  if (request === undefined) return 'the request is not a JSON object';
  const { format, subscriptions } = request;
  if (format !== 'json') return `invalid format ['${quoted(format)}']: only json is supported`;
  if (!Array.isArray(subscriptions)) return 'subscriptions is not a list';
  if (subscriptions.length > MAX_SUBSCRIPTIONS) return `more than ${MAX_SUBSCRIPTIONS} subscriptions`;
  const read: AnySubscription[] = [];
  for (const one of subscriptions as unknown[]) {
    const subscription = subscriptionOf(one);
    if (typeof subscription === 'string') return subscription;
    read.push(subscription);
  }
  return read;
}

function subscriptionOf(value: unknown): AnySubscription | string {
  if (!isJsonObject(value)) return 'a subscription is not an object';
  const { type, options = null } = value;
  if (options !== null && !isJsonObject(options)) return 'options of a subscription is not an object';
  const name = typeof type === 'string' ? type : '';
  const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  if (reader === undefined)
    return `event type ${quoted(type)} is not supported: ${Object.keys(READERS).join(', ')} are`;
  return reader(name, options ?? {});
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
