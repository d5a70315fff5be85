/** The library that makes and reads certificates beyond what `node:crypto` can. */
import type * as x509 from '@peculiar/x509';

export type X509Library = typeof x509;

/** Loaded when a certificate is made or asked for, seldom: its 200 modules would weigh on every idle program. */
export async function loadX509(): Promise<X509Library> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}
