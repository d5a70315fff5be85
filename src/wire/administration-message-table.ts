/** Messages between administrators and controllers, over the WebSocket of OpenZiti's fabric API. */
import { row } from './message-row.ts';

export const ADMINISTRATION_MESSAGES = {
  streamEventsRequest: row(10040, 'StreamEventsRequest', 'dialer', 'json', 'Subscribes to events.'),
  streamEventsEvent: row(10041, 'StreamEventsEvent', 'controller', 'json', 'One event.'),
  togglePipeTracesRequest: row(
    10044,
    'TogglePipeTracesRequest',
    'dialer',
    'protobuf',
    'As TogglePipeTraces, for every controller and router that it selects.',
  ),
  streamTracesRequest: row(10046, 'StreamTracesRequest', 'dialer', 'protobuf', 'Subscribes to traces.'),
  streamTracesEvent: row(10047, 'StreamTracesEvent', 'controller', 'protobuf', 'As TraceEvent.'),
  fabricInspectRequest: row(
    10048,
    'InspectRequest',
    'dialer',
    'protobuf',
    'Asks controllers and routers for named diagnostics.',
  ),
  fabricInspectResponse: row(10049, 'InspectResponse', 'controller', 'protobuf', 'Values by application.'),
} as const;
