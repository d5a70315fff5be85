import { getCACertificates } from 'node:tls';

/** The trust anchors of this machine: Node's own and those that the operating system's owner added. */
export function systemAnchors(): string[] {
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
}
