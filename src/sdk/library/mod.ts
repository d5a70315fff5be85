/**
 * `@frontdoor-dev/frontdoor/sdk`: dials and hosts services of an overlay from a program. It works with any OpenZiti control plane, too.
 * `docs/guide/sdk.md` explains it.
 */
export { enroll, type EnrollmentResult, type EnrollmentOptions } from './enrollment.ts';
export {
  openOverlay,
  type DialOptions,
  type Overlay,
  type OverlayEvents,
  type OverlayOptions,
} from './overlay.ts';
export type { BindOptions, OverlayServer, OverlayServerEvents } from './overlay-server.ts';
export type { CircuitStream } from './circuit-stream.ts';
export type { ServicesChange } from './service-watch.ts';
export { SdkError, type FailedPart } from './sdk-error.ts';
export type { ListedService, ListedTerminator } from './listed-service.ts';
