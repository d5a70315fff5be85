import { getCACertificates } from 'node:tls';

/** Returns the trust anchors of this machine: Node's own and those of the operating system. */
export function systemAnchors(): string[] {
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
}
