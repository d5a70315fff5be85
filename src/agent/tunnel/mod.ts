/** `frontdoor tunnel`: dials and hosts services as the identity of a file, without an agent. */
export { openTunnelOverlay, type TunnelOverlay } from './tunnel-overlay.ts';
export { TunnelHost } from './tunnel-host.ts';
export { startTunnelProxy } from './tunnel-proxy.ts';
