/** Templates of a config that name the addresses of the intercepted connection: `$src_ip`, `$dst_port` and others. */
import { instanceIdOf } from '#sdk/hosting';
import type { TunnelIdentity } from '../services/tunnel-service.ts';

export interface DialAddresses {
  readonly sourceAddress: string;
  readonly sourcePort: number;
  readonly destinationAddress: string;
  readonly destinationPort: number;
  /** Undefined if the client did not dial a name. */
  readonly destinationName: string | undefined;
}

/** @throws FrontdoorError `invalid-template`. Variables that have no value become empty. */
export function fillTemplate(
  template: string,
  identity: Pick<TunnelIdentity, 'name' | 'appData'>,
  addresses: DialAddresses,
): string {
  const values: Readonly<Record<string, string>> = {
    src_ip: addresses.sourceAddress,
    src_port: String(addresses.sourcePort),
    dst_ip: addresses.destinationAddress,
    dst_port: String(addresses.destinationPort),
    dst_hostname: addresses.destinationName ?? '',
  };
  return instanceIdOf(template, identity).replaceAll(
    /\$(src_ip|src_port|dst_ip|dst_port|dst_hostname)\b/g,
    (_variable, name: string) => values[name]!,
  );
}
