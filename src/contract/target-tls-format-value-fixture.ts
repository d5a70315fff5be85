/** Values of the formats of certificates of targets, for `format-value-fixture.ts`. */

const certificate = (lines: string): string =>
  `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;

export const targetTlsFormatValues = {
  'certificate-pin': {
    right: ['c3'.repeat(32), Array(32).fill('C3').join(':')],
    wrong: [
      '',
      'c3',
      'c3'.repeat(31),
      'c3'.repeat(33),
      'g3'.repeat(32),
      `${'c3'.repeat(32)}:`,
      'c:3'.repeat(32),
    ],
  },
  'certificate-list': {
    right: [certificate('AAAA'), `${certificate('AAAA')}\n${certificate('AA==')}`],
    wrong: ['', 'x', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'],
  },
  'server-name': {
    right: ['pve', 'Pve.example.com', 'a_b'],
    wrong: ['', '10.0.0.1', '[::1]', '::1', 'a.1', 'a:80', 'a..b', 'a.', 'https://a', 'a b', 'a'.repeat(64)],
  },
  'client-certificate-name': {
    right: ['plc', 'PLC_2-b', 'a'.repeat(63)],
    wrong: ['', '-a', 'a b', 'a=b', 'a.b', 'a'.repeat(64)],
  },
};
