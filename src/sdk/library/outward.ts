/** How a program that uses the library reaches servers: by an option, or the variables of its environment. */
import process from 'node:process';
import { Secret } from '#base';
import { outwardDialerOf, type OutwardDialer } from '#net';

/** Throws `proxy-url`. */
export function outwardOf(proxy: string | undefined): OutwardDialer {
  return outwardDialerOf(process.env, proxy === undefined ? undefined : new Secret(proxy));
}
