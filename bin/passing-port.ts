/**
 * The TLS port of a gateway that passes some connections on (`--pass-tls`): the hello of each is read before TLS begins, and what no
 * rule is about stays at the gateway. ADR 0098.
 */
import type { Socket } from 'node:net';
import type { Log } from '#base';
import { passRuleFor, type PassRule } from '#domain/proxies';
import type { SharedPlace } from '#gateway';
import { TlsPasser, TlsPort } from '#net';

export interface PassingPortOptions {
  readonly host: string;
  readonly port: number;
  readonly rules: readonly PassRule[];
  readonly maxConnectionsPerAddress: number | undefined;
  readonly log: Log;
}

const HELLO_MS = 10_000;

export interface PassingPort {
  /** Where the gateway takes what stays. */
  readonly forGateway: SharedPlace;
  /** Stops listening. Open connections continue. */
  stop(): Promise<void>;
  /** Ends what is passed on. */
  close(): void;
}

export async function openPassingPort(options: PassingPortOptions): Promise<PassingPort> {
  const { host, port, rules, maxConnectionsPerAddress: maxPerAddress, log } = options;
  const limits = maxPerAddress === undefined ? {} : { maxPerAddress };
  const passer = new TlsPasser({ limits, log });
  const gateway: { take?: (socket: Socket) => void } = {};
  const tlsPort = await TlsPort.open({
    host,
    port,
    handshakeTimeoutMs: HELLO_MS,
    place: '--https-port',
    others: (hello, socket) => {
      const rule = passRuleFor(rules, hello);
      if (rule === undefined) gateway.take?.(socket);
      else passer.pass(socket, rule);
      return rule !== undefined || gateway.take !== undefined;
    },
    log,
  });
  return {
    forGateway: {
      port: tlsPort.port,
      follow: (take) => {
        gateway.take = take;
        return () => delete gateway.take;
      },
    },
    stop: () => tlsPort.close(),
    close: () => passer.close(),
  };
}
