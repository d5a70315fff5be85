/**
 * Alerts of routers, for the log and for followers of events. A router cannot fill the log: its alerts are limited in
 * rate and size, and those above the rate are counted in its next one. Reports of refused hellos have their own limit.
 */
import { TokenBuckets, type Clock, type Log } from '#base';
import type { Frame } from '#wire';
import { ctrlMessages, parseRefusedHello } from '#wire/ctrl';
import type { FabricEvents } from '../model/fabric-events.ts';
import type { ConnectedRouter } from '../mesh/connected-router.ts';
import type { RefusalTrail } from '../permits/refusal-trail.ts';

export interface RouterAlertsOptions {
  readonly refusals: Pick<RefusalTrail, 'reportedHello'>;
  readonly events: Pick<FabricEvents, 'emit'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** For the alerts of one router. */
const ALERT_LIMIT = { perSecond: 5, burst: 200 };
const MAX_ALERTS_PER_MESSAGE = 100;
const MAX_DETAILS = 32;
const MAX_NAME_CHARACTERS = 256;
const MAX_TEXT_CHARACTERS = 2_048;

export class RouterAlerts {
  readonly #options: RouterAlertsOptions;
  readonly #limit: TokenBuckets;
  /** Alerts since the last one that was not above the rate. */
  readonly #omitted = new WeakMap<ConnectedRouter, number>();

  constructor(options: RouterAlertsOptions) {
    this.#options = options;
    this.#limit = new TokenBuckets(ALERT_LIMIT, options.clock);
  }

  /** @throws FrontdoorError `protocol` */
  onAlerts(router: ConnectedRouter, frame: Frame): void {
    const { refusals, events, log } = this.#options;
    for (const alert of ctrlMessages.alerts.decode(frame.body).alerts.slice(0, MAX_ALERTS_PER_MESSAGE)) {
      const refused = parseRefusedHello(alert);
      if (refused !== undefined) {
        refusals.reportedHello(router.id, refused);
        continue;
      }
      const omitted = this.#omitted.get(router) ?? 0;
      if (this.#limit.take(router.id) > 0) {
        this.#omitted.set(router, omitted + 1);
        continue;
      }
      this.#omitted.delete(router);
      const named = {
        severity: nameOf(alert.severity),
        sourceType: nameOf(alert.sourceType),
        sourceId: nameOf(alert.sourceId),
      };
      const message = alert.message.slice(0, MAX_TEXT_CHARACTERS);
      const related = Object.entries(alert.relatedEntities).slice(0, MAX_DETAILS);
      events.emit('alert', {
        ...named,
        message,
        atMs: Number(alert.timestamp),
        details: alert.details.slice(0, MAX_DETAILS).map((text) => text.slice(0, MAX_TEXT_CHARACTERS)),
        relatedEntities: Object.fromEntries(related.map(([kind, id]) => [nameOf(kind), nameOf(id)])),
      });
      const fields = { router: router.id, ...named, alert: message };
      log.warn(omitted === 0 ? fields : { ...fields, alsoBefore: omitted }, 'alert from a router');
    }
  }
}

function nameOf(text: string): string {
  return text.slice(0, MAX_NAME_CHARACTERS);
}
