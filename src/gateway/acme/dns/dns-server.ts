/** The address of a DNS server in a setting. */
import { isIP } from 'node:net';
import { readHostPort, type HostPort } from '#base';

const DNS_PORT = 53;

/** `host`, `host:port` or `[address]:port`. */
export function dnsServerOf(text: string): HostPort | undefined {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT };
  return readHostPort(text) ?? readHostPort(`${text}:${DNS_PORT}`);
}
