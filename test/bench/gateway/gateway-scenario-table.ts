/**
 * The scenarios of the gateway's benchmark; its targets are in `gateway-benchmark.ts`. wrk measures a request from
 * when it is written: with new connections, p50 and p99 include neither connecting nor the handshake, and requests/s
 * include both.
 */

interface Scenario {
  readonly name: string;
  readonly isSecure: boolean;
  readonly connections: number;
}

interface RequestScenario extends Scenario {
  /** A new connection for each request. */
  readonly close: boolean;
  /** The parts as separate processes are measured too. */
  readonly withSeparate: boolean;
}

const CONNECTIONS = [32, 1, 512] as const;

export function scenarioName(isSecure: boolean, close: boolean, connections: number): string {
  const kind = close ? 'new connections' : 'keep-alive';
  return `${isSecure ? 'TLS' : 'plain'}, ${kind}, ${connections} at once`;
}

/** Keep-alive with 32 connections comes first, so that the just-in-time compilers optimize with it. */
export const REQUEST_SCENARIOS: readonly RequestScenario[] = [false, true].flatMap((close) =>
  [false, true].flatMap((isSecure) =>
    CONNECTIONS.map((connections) => ({
      name: scenarioName(isSecure, close, connections),
      isSecure,
      close,
      connections,
      withSeparate: connections === 32,
    })),
  ),
);

export const DOWNLOAD = { plain: 'plain, download', secure: 'TLS, download' };

export const IDLE = 'idle connections';
/** The tables of idle connections by door, and their columns. */
export const IDLE_TABLES = { plain: `${IDLE}, plain`, secure: `${IDLE}, TLS` };
export const CONNECTIONS_COLUMN = 'connections';
export const HELD_COLUMN = 'with them, MiB';
export const EACH_COLUMN = 'each, KiB';

/** Over TLS, each connection with so many requests at once. */
export const HTTP2_SCENARIOS = [
  { name: 'HTTP/2, 1 stream a connection', streams: 1, isCall: false },
  { name: 'HTTP/2, 10 streams a connection', streams: 10, isCall: false },
  { name: 'gRPC unary, 10 streams a connection', streams: 10, isCall: true },
] as const;
export const HTTP2_CONNECTIONS = 32;
