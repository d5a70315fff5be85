/** The edge API: what OpenZiti’s clients, our agents and gateways ask for. */
export { openApiSessions } from './api-session-store.ts';
export { createEdgeApi } from './edge-api.ts';
export { openServiceTokens } from './service-tokens.ts';
