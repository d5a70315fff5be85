/** What each step of a control plane's start works with. */
import type { Clock, Log } from '#base';
import type { BodyIntake } from '#net/http';
import type { EventExporter } from '../shares/event-export/mod.ts';
import type { NotificationSender } from '../shares/notifications/mod.ts';
import type { ApiMeter } from './api-meter.ts';
import type { Closer } from './close-all.ts';
import type { ControlAddresses } from './control-addresses.ts';
import type { ControlPlaneOptions } from './control-plane-options.ts';

export interface Opening {
  readonly options: ControlPlaneOptions;
  /** Each step appends what closes its parts as soon as it has them, so that a start that fails leaves nothing open. */
  readonly closers: Closer[];
  readonly addresses: ControlAddresses;
  /** Reads the bodies of all APIs, so that one budget applies to all. */
  readonly intake: BodyIntake;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the APIs are opened with, once the overlay is open. */
export interface ApiOpening extends Opening {
  /** Counts the requests of all APIs. */
  readonly apis: ApiMeter;
  readonly notifications: NotificationSender;
  readonly eventExport: EventExporter;
}
