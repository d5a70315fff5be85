/** `dialers` and `listeners` as the router works with them. */
import { addressOf, dataChannelOf, ms, timer } from './file-values.ts';
import type { DialerConfig, ListenerConfig, XgressConfig } from './router-config.ts';
import { addressKeyOf, advertiseOf } from './rules/listener-rules.ts';
import type { DialerFile, ListenerFile, RouterFile } from './schema/router-file-schema.ts';
import { parseHostPort } from './text-kinds.ts';

/** Of several with one binding the last one holds. */
export function buildDialers({ dialers = [] }: RouterFile): DialerConfig[] {
  const all = dialers.map(({ binding, options }, i) => ({
    path: `dialers[${i}]`,
    binding,
    xgress: xgressOf(options),
  }));
  return all.filter(({ binding }, i) => all.findLastIndex((other) => other.binding === binding) === i);
}

export function buildListeners({ listeners = [] }: RouterFile): ListenerConfig[] {
  return listeners.map(listenerOf);
}

function listenerOf(said: ListenerFile, index: number): ListenerConfig {
  const { binding, options } = said;
  const base = { path: `listeners[${index}]`, xgress: xgressOf(options) };
  switch (binding) {
    case 'tunnel':
    case 'transport_udp':
    case 'proxy_udp':
      return { ...base, binding };
    case 'edge':
      return {
        ...base,
        binding,
        address: addressOf(said[addressKeyOf(said)]!),
        advertise: parseHostPort(advertiseOf(said).text!)!,
        channel: dataChannelOf(options),
        lookupApiSessionTimeoutMs: ms(options.lookupApiSessionTimeout),
      };
    case 'transport':
      return {
        ...base,
        binding,
        address: addressOf(said[addressKeyOf(said)]!),
        advertise: advertiseOf(said).text!,
      };
    case 'proxy':
      return { ...base, binding, address: addressOf(said[addressKeyOf(said)]!), service: said.service! };
  }
}

type XgressFile = Omit<DialerFile['options'], 'connectTimeout'> & { readonly connectTimeout?: string };

function xgressOf(said: XgressFile): XgressConfig {
  return {
    mtu: said.mtu,
    randomDrops: said.randomDrops,
    drop1InN: said.drop1InN,
    txQueueSize: said.txQueueSize,
    txPortalStartSize: said.txPortalStartSize,
    txPortalMinSize: said.txPortalMinSize,
    txPortalMaxSize: said.txPortalMaxSize,
    txPortalIncreaseThresh: said.txPortalIncreaseThresh,
    txPortalIncreaseScale: said.txPortalIncreaseScale,
    txPortalRetxThresh: said.txPortalRetxThresh,
    txPortalRetxScale: said.txPortalRetxScale,
    txPortalDupAckThresh: said.txPortalDupAckThresh,
    rxBufferSize: said.rxBufferSize,
    retxStartMs: timer(said.retxStartMs),
    retxScale: said.retxScale,
    retxAddMs: timer(said.retxAddMs),
    retxMaxMs: timer(said.retxMaxMs),
    // OpenZiti counts 1 as 2.
    maxRttScale: said.maxRttScale === 1 ? 2 : said.maxRttScale,
    maxCloseWaitMs: timer(said.maxCloseWaitMs),
    getCircuitTimeoutMs: ms(said.getCircuitTimeout),
    circuitStartTimeoutMs: ms(said.circuitStartTimeout),
    connectTimeoutMs: said.connectTimeout === undefined ? 0 : Math.max(0, ms(said.connectTimeout)),
  };
}
