/** Whether an agent names the client of each connection to the service, by haproxy's PROXY protocol. */
import { Type } from '#base/shapes';

export const PROXY_PROTOCOLS = ['off', 'v1', 'v2'] as const;
export type ProxyProtocol = (typeof PROXY_PROTOCOLS)[number];
export type ProxyProtocolVersion = Exclude<ProxyProtocol, 'off'>;

export const proxyProtocolFields = {
  proxyProtocol: Type.Unsafe<ProxyProtocol>({
    type: 'string',
    enum: [...PROXY_PROTOCOLS],
    description:
      'Version of the PROXY header with which the agent names the client of each connection to the service; `off` by default. The service must expect it',
  }),
};
