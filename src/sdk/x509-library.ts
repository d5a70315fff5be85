/** The library for making and parsing certificates beyond `node:crypto`. */
import type * as x509 from '@peculiar/x509';

export type X509Library = typeof x509;

/**
 * Loaded only when a certificate is made or requested, because its 200 modules would cost memory in every idle
 * program.
 */
export async function loadX509(): Promise<X509Library> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}
