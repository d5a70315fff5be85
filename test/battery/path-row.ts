/**
 * H3: the origin gets the bytes of a target unchanged, or the request is refused. A fixed list of targets that
 * servers read differently, and random paths made of their parts.
 */
import fc from 'fast-check';
import { hostOf, LISTENER_KINDS } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { askBytes, statusOf } from './bytes-client.ts';
import { RawOrigin } from './raw-origin.ts';

export const ODD_PATHS: readonly string[] = [
  '/',
  '//',
  '///',
  '/a//b',
  '//a',
  '/./a',
  '/../a',
  '/a/..',
  '/a/.',
  '/..',
  '/...',
  '/a/../../b',
  '/%2f',
  '/%2F',
  '/%2f%2fevil',
  '/a%2fb',
  '/%5c',
  '/%5Cevil',
  '/a%5cb',
  '/\\',
  '/a\\b',
  '/\\evil',
  '/%2e',
  '/%2e%2e',
  '/%2e%2e/a',
  '/%2E%2E%2Fa',
  '/.%2e/a',
  '/%252e%252e',
  '/%25',
  '/%',
  '/%zz',
  '/%f',
  '/%00',
  '/a%00b',
  '/%0a',
  '/%0d%0aX:%20y',
  '/%20',
  '/%09',
  '/%7f',
  '/%ff',
  '/%c0%af',
  '/%c1%9c',
  '/%e0%80%af',
  '/%u002f',
  '/%ef%bc%8f',
  '/%c2%85',
  '/%ed%a0%80',
  ';',
  '/;',
  '/a;b',
  '/a;b/c',
  '/;/a',
  '/..;/a',
  '/a;x=y/../b',
  '/a;/..;/b',
  '/a?b',
  '/?',
  '/??',
  '/a?b?c',
  '/a?/../b',
  '/a?//b',
  '/a?\\',
  '/a?%2f',
  '/?a=b&c',
  '/a?b#c',
  '/a#b',
  '#',
  '/a:b',
  '/a@b',
  '/@',
  '/:',
  '/:80',
  '/a=b',
  '/a,b',
  "/a'b",
  '/a"b',
  '/a<b>',
  '/a|b',
  '/a^b',
  '/a`b',
  '/{a}',
  '/[a]',
  '/~a',
  '/a~',
  '/*',
  '/a*b',
  '/$a',
  '/!a',
  '/a+b',
  '/(a)',
  '/-',
  '/_',
  '/a/',
  '/A',
  '/a.',
  '/a .',
  '/a\tb',
  '/a\x7f',
  '/\xe4',
  '/\xff',
  '/a\0b',
  '*',
  'a',
  '',
  '?',
  '.',
  '..',
  '../a',
  './a',
  '%2f',
  'http:',
  'http:/',
  '/http://evil/',
  '/a/http://evil/',
  '/.frontdoor/x',
  '/.well-known/acme-challenge/x',
  '/favicon.ico',
  '/%2e/',
  `/${'a/'.repeat(500)}`,
  `/${'../'.repeat(500)}`,
  `/${'%2f'.repeat(500)}`,
  `/${'a'.repeat(8_000)}`,
  `/${'a'.repeat(16_384)}`,
  `/?${'a'.repeat(8_000)}`,
];

const PARTS = [
  '/',
  '//',
  '.',
  '..',
  '%2f',
  '%5c',
  '%2e',
  '\\',
  ';',
  '%00',
  '%c0%af',
  '?',
  '#',
  ' ',
  '%',
  'a',
  'B',
].concat(['~', '*', ':', '@', '\xe9', '%25', '%0d%0a', '|', '"']);

export const PATH_ROW: BatteryRow = {
  id: 'H3',
  title: 'a path travels byte for byte, or not at all',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await RawOrigin.start();
    try {
      await product.share('h3-raw', origin.port);
      const random = fc.sample(
        fc
          .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 })
          .map((parts) => `/${parts.join('')}`),
        { seed: context.seed | 0, numRuns: context.quick ? 60 : 400 },
      );
      let [passed, refused] = [0, 0];
      for (const kind of LISTENER_KINDS) {
        for (const path of [...ODD_PATHS, ...random]) {
          origin.forget();
          const answer = await askBytes(
            product.target(kind, 'h3-raw'),
            `GET ${path} HTTP/1.1\r\nHost: ${hostOf('h3-raw')}\r\nConnection: close\r\n\r\n`,
          ).catch((error: unknown) => String(error));
          const status = statusOf(answer);
          if (status === 200) passed += 1;
          else refused += 1;
          const isGood =
            status === 200
              ? origin.requests.length === 1 && origin.requests[0]!.target === path
              : [400, 414, 431, 505].includes(status) && origin.begun === 0;
          tally.check(isGood, `${kind} ${JSON.stringify(path.slice(0, 60))}`, () =>
            JSON.stringify([status, origin.seen, origin.strays]),
          );
        }
      }
      context.note(`${passed} passed byte for byte, ${refused} refused`);
    } finally {
      await origin.close();
    }
    return tally;
  },
};
