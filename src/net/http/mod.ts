/** Requests and responses over HTTP, and WebSockets. */
export type { WebSocketTimes } from './web-socket-port.ts';
export { WebSocketUpgrades, type WebSocketHandlers, type WebSocketMessages } from './web-socket-upgrades.ts';
export {
  JsonClient,
  type JsonAnswer,
  type JsonClientOptions,
  type JsonRequest,
  isRepeatable,
  type StreamAnswer,
} from './json-client.ts';
export {
  BodyIntake,
  BodyRefusal,
  checkStatedLength,
  continueWhenRead,
  hasBody,
  type BodyAllowance,
  type BodyLimits,
} from './body-intake.ts';
export {
  createApiServer,
  endUnfinishedHandshakes,
  type ApiServerLimits,
  type ServerKeyPair,
} from './http-server.ts';
export { createHttpServer, httpRequest, STATUS_CODES } from './node-http.ts';
export { openTextEndpoint, type TextEndpoint, type TextEndpointOptions } from './text-endpoint.ts';
export { serverDateOf } from './server-date.ts';
