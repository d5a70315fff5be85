// Sections can listen at one bind address if clients name a different protocol for each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, summaryOf, WHOLE_FILE } from './testing/router-file-fixture.ts';

type Section = 'link' | 'ctrl' | 'edge' | 'web' | 'transport' | 'proxy';

const AT = '127.0.0.1:4000';

/** Returns a file with these sections, each with a listener at its address. */
function problemsOf(sections: readonly (readonly [Section, string])[], type = 'tls'): string[] {
  const file: Record<string, unknown> = structuredClone(WHOLE_FILE);
  const listeners: unknown[] = [];
  delete file['web'];
  delete file['link'];
  delete file['listeners'];
  for (const [section, at] of sections) {
    if (section === 'link')
      file['link'] = { listeners: [{ binding: 'transport', bind: `tls:${at}`, advertise: 'a:1' }] };
    else if (section === 'ctrl') file['ctrl'] = { endpoint: 'tls:x:1', listeners: [{ bind: `tls:${at}` }] };
    else if (section === 'web')
      file['web'] = [
        { name: 'x', bindPoints: [{ interface: at, address: 'a:1' }], apis: [{ binding: 'health-checks' }] },
      ];
    else {
      listeners.push({
        binding: section,
        address: `${section === 'edge' ? 'tls' : type}:${at}`,
        service: 's',
        advertise: 'a:1',
      });
      file['listeners'] = listeners;
    }
  }
  return summaryOf(
    read(JSON.stringify(file, undefined, 1)).problems.filter(({ rule }) => rule === 'port-shared'),
  );
}

test('link, ctrl and one of edge, web, transport or proxy share a bind address', () => {
  for (const last of ['edge', 'web', 'transport', 'proxy'] as const)
    assert.deepEqual(
      problemsOf([
        ['ctrl', AT],
        ['link', AT],
        [last, AT],
      ]),
      [],
      last,
    );
});

test('two listeners for the same connections do not: the error is at the second and names the first', () => {
  const second = {
    edge: 'listeners[1].address',
    transport: 'listeners[1].address',
    proxy: 'listeners[1].address',
  };
  for (const one of ['edge', 'transport', 'proxy'] as const) {
    for (const other of ['edge', 'transport', 'proxy'] as const)
      assert.deepEqual(
        problemsOf([
          [one, AT],
          [other, AT],
        ]),
        [`error port-shared ${second[other]}`],
        `${one} ${other}`,
      );
    assert.deepEqual(
      problemsOf([
        [one, AT],
        ['web', AT],
      ]),
      ['error port-shared web[0].bindPoints[0].interface'],
    );
    assert.deepEqual(
      problemsOf([
        ['web', AT],
        [one, AT],
      ]),
      ['error port-shared listeners[0].address'],
    );
  }
  const { problems } = read(
    JSON.stringify(
      {
        ...WHOLE_FILE,
        web: [
          {
            name: 'x',
            bindPoints: [{ interface: '127.0.0.1:3022', address: 'a:1' }],
            apis: [{ binding: 'health-checks' }],
          },
        ],
      },
      undefined,
      1,
    ),
  );
  assert.match(problems[0]!.message, /127\.0\.0\.1:3022 with listeners\[0\]\.address/);
});

test('other bind addresses of one port, and port 0, are other sockets', () => {
  assert.deepEqual(
    problemsOf([
      ['edge', '0.0.0.0:4000'],
      ['web', AT],
    ]),
    [],
  );
  assert.deepEqual(
    problemsOf([
      ['edge', '127.0.0.1:0'],
      ['transport', '127.0.0.1:0'],
    ]),
    [],
  );
});

test('a plain TCP listener shares its address with nobody', () => {
  assert.deepEqual(
    problemsOf(
      [
        ['link', AT],
        ['transport', AT],
      ],
      'tcp',
    ),
    ['error port-shared listeners[0].address'],
  );
  assert.deepEqual(
    problemsOf(
      [
        ['link', AT],
        ['transport', AT],
      ],
      'udp',
    ),
    [],
  );
});
