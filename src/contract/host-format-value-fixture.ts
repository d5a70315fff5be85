/** Values of the formats of hosts, for `format-value-fixture.ts`. */

const label63 = 'a'.repeat(63);

export const hostFormatValues = {
  'upstream-host': {
    right: [
      'preserve',
      'target',
      'localhost',
      'LocalHost:3000',
      '127.0.0.1',
      '[::1]:80',
      'a.example:00443',
      'a_b',
    ],
    wrong: [
      '',
      'http://localhost',
      'localhost/',
      'a:0',
      'a:65536',
      'a:',
      ':80',
      '::1',
      'a b',
      'a\r\nb',
      'a..b',
      '1.2',
    ],
  },
  'zone-name': {
    right: [
      'a.example',
      'A.Example',
      'a.b.c.d.e.f.g.example',
      '1.example',
      'a.x0',
      `${label63}.example`,
      'a.0xg',
    ],
    wrong: [
      '',
      'a',
      '-a.example',
      'a-.example',
      'a..example',
      'a_b.example',
      '192.0.2.1',
      'a.0x1f',
      'a.1',
      'a.example.',
      '*.a.example',
      `${label63}a.example`,
      `${`${label63}.`.repeat(2)}${'a'.repeat(62)}`,
    ],
  },
};
