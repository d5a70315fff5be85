/** OpenZiti's client API. */
export { createEdgeApi } from './edge-api.ts';
export { type EdgeTokens, openEdgeTokens } from './edge-tokens.ts';
export { apiAddressesOf } from './information-routes.ts';
