/** The edge API for clients of OpenZiti, and for our agents and gateways. */
export { openApiSessions } from './api-session-store.ts';
export { createEdgeApi } from './edge-api.ts';
export { apiAddressesOf } from './information-routes.ts';
export { SessionRevocations } from './session-revocations.ts';
export { openEdgeTokens } from './edge-tokens.ts';
